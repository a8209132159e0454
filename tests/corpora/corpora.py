#!/usr/bin/python3
"""Test suites of others, run in a zygote's child and from a cold start.

    corpora.py --build DIR [--nginx NGINX] [--work DIR] [--port N] [NAME...]

Both are runs of the same sandbox, through the same nginx: a variable in the
job's environment that begins with PYTHON or NODE_ makes a run start cold, that
is, in the plain interpreter under the same restrictions.  NAME is part of the
name of a test, and chooses:

    cpython/test_NAME       a test module of libpython3.11-testsuite; compared
                            is how each test of it ended
    parser/DIRECTORY        test262-parser-tests, compiled in each way that node
                            has; compared with a plain node outside, too
    program/DIRECTORY/FILE  the same files, each a program of its own, but for
                            pass-explicit, which is pass with more parentheses

Every module is run but for what left_out.txt names; the kinds of its reasons
are counted.  A module with no test that passes from a cold start is compared,
too, but counted as left out.  differences.txt has what is known to differ, with
the reason.  A test that differs is run again both ways: when it then also
differs from itself it is unstable, and shown, but proves nothing.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import types

HERE = pathlib.Path(__file__).resolve().parent
for other in ("http", "fidelity"):      # both have a run.py: this is the last's
    sys.path.insert(0, str(HERE.parent / other))

import run as fidelity
from nginx import PLENTY, Site, wait_for

MODULES = pathlib.Path("/usr/lib/python3.11/test")
SPLIT = ("test_asyncio",)       # packages whose modules are run one by one
PACKAGE, VERSION = "test262-parser-tests", "0.0.5"
DIRECTORIES = ("pass", "pass-explicit", "fail", "early")
END = "(its end)"       # of a run, beside those of its tests
BATCH = 250             # files of a job: SBX_FILES_MAX and some air
SECONDS = 150           # of a run; what needs more is left out
AGAIN = 2

# Beside nginx's own server, whose limits are for other programs.
SERVER = """
    server {
        listen 127.0.0.1:%d;
        client_max_body_size 16m;
        keepalive_requests 100000;
        location = /run {
            sandbox any;
            sandbox_memory 1g;
            sandbox_memory_mode soft;
            sandbox_timeout %ds;
            sandbox_cpu_time %ds;
            sandbox_output 8m;
            sandbox_disk 256m;
            sandbox_processes 64;
            sandbox_open_files 1024;
        }
    }
"""
COLD = {"python": "PYTHON_CORPORA", "node": "NODE_CORPORA"}
# A zygote is linked with libseccomp, no interpreter is.
WITNESS = {
    "python": "print('libseccomp' in open('/proc/self/maps').read())\n",
    "node": "console.log(require('fs').readFileSync('/proc/self/maps', "
            "'latin1').includes('libseccomp') ? 'True' : 'False')\n",
}
# Times, numbers, names and addresses in the text of an error.
NOISE = re.compile(r"0x[0-9a-f]+|\d+|@test_\w+|/tmp/\w+|[Tt]mp\w{8}")


def job(language, code, name=None, args=(), files=None, limits=None):
    suffix = {"python": ".py", "node": ".js"}[language]
    return types.SimpleNamespace(
        language=language, code=code, name=name or "main" + suffix,
        stdin=b"", args=list(args), env={}, files=files or {},
        limits=limits or {})


class Inside:
    """A connection for each thread, kept."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/run"
        self.local = threading.local()

    def run(self, program, cold):
        if not hasattr(self.local, "url"):
            self.local.url = fidelity.Url(self.url)
            self.local.url.connection.timeout = SECONDS + 30
        # both have one variable more, or the two would differ in that
        name = COLD[program.language] if cold else "CORPORA"
        asked = types.SimpleNamespace(**{**vars(program),
                                         "env": {name: "1"}})
        return self.local.url.run(asked)


class Corpus:
    """Items that are run both ways; what a run said becomes a dictionary of
    outcomes, by the name of the test."""
    left_out = {}

    def __init__(self, inside):
        self.inside = inside

    def ways(self, item):
        """The outcomes of each way, the zygote's first."""
        return [self.outcomes(item, self.inside.run(self.job(item), cold))
                for cold in (False, True)]

    def unused(self, _):
        return None


class CPython(Corpus):
    title = "cpython"

    def __init__(self, inside):
        super().__init__(inside)
        self.code = (HERE / "cpython.py").read_bytes()
        self.left_out = read_table("left_out.txt")
        for module, reason in self.left_out.items():
            if not re.match(r"[a-z ]+: ", reason):
                sys.exit(f"left_out.txt: {module}: no kind of reason")

    def items(self):
        names = sorted(p.stem for p in MODULES.iterdir()
                       if p.name.startswith("test_")
                       and (p.suffix == ".py" or p.is_dir()))
        unknown = {n.split(".")[0] for n in self.left_out} - set(names)
        if unknown:
            sys.exit(f"left_out.txt: no such module: {' '.join(unknown)}")
        for package in SPLIT:
            names.remove(package)
            names += sorted(f"{package}.{p.stem}" for p
                            in (MODULES / package).glob("test_*.py"))
        return [n for n in names if n not in self.left_out]

    def job(self, item):
        return job("python", self.code, args=[item] + [
            "-" + what for what in self.left_out
            if what.startswith(item + ".")])

    def outcomes(self, item, outcome):
        found = collections.defaultdict(list)
        text = outcome.output.decode(errors="replace")
        for line in text.split("\n"):
            if line.startswith("\x1e"):
                how, test, detail = line[1:].split("\t")
                found[test].append(f"{how} {NOISE.sub('#', detail)}".strip())
        known = {test: " + ".join(hows) for test, hows in found.items()}
        how, *what = map(str, outcome.end)
        if how == "verdict":
            what = [NOISE.sub("#", " ".join(what))]
        known[END] = " ".join([how, *what]) + known.pop(item + END, "")
        return known

    def unused(self, known):
        """Why a run shows nothing of a module, or None."""
        hows = {how.split()[0] for test, how in known.items() if test != END}
        if "ok" in hows:
            return None
        return ("skipped by itself" if hows <= {"skip"} else
                "none passes from a cold start")


class Parser(Corpus):
    """Batches of files, and the same outside of the sandbox."""
    title = "parser"

    def __init__(self, inside, root):
        super().__init__(inside)
        self.root = root
        self.code = (HERE / "parser.js").read_bytes()

    def items(self):
        for directory in DIRECTORIES:
            files = sorted((self.root / directory).glob("*.js"))
            for n in range(0, len(files), BATCH):
                yield f"{directory}/{n // BATCH}"

    def files(self, item):
        directory, n = item.split("/")
        files = sorted((self.root / directory).glob("*.js"))
        start = int(n) * BATCH
        return {f"cases/{goal(file)}": file.read_bytes()
                for file in files[start:start + BATCH]}

    def job(self, item):
        return job("node", self.code, files=self.files(item))

    def ways(self, item):
        outside = fidelity.outside(self.job(item))
        return [*super().ways(item), self.outcomes(item, outside)]

    def outcomes(self, item, outcome):
        lines = outcome.output.decode(errors="replace").splitlines()
        known = {}
        for line in lines:
            file, how, what = line.split(" ", 2)
            known[f"{file} {how}"] = what
        known[END] = (" ".join(map(str, outcome.end))
                              + outcome.stderr.decode(errors="replace"))
        return known


class Programs(Corpus):
    """A file of it each, with little time: some never end."""
    title = "program"

    def __init__(self, inside, root):
        super().__init__(inside)
        self.root = root

    def items(self):
        for directory in ("pass", "fail", "early"):
            for file in sorted((self.root / directory).glob("*.js")):
                yield f"{directory}/{file.name}"

    def job(self, item):
        file = self.root / item
        return job("node", file.read_bytes(), name="main" + (
            ".mjs" if file.name.endswith(".module.js") else ".js"),
            limits={"cpu_time": "1s"})

    def outcomes(self, item, outcome):
        end, *streams = outcome.view(False)
        return {"": " ".join(map(str, [*end, *streams]))}


def goal(file):
    """Its name, with the ending that tells node of a module."""
    return file.name.replace(".module.js", ".mjs")


def read_table(name):
    table = {}
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            title, _, reason = line.partition("  ")
            if not reason:
                sys.exit(f"{name}: no reason: {line}")
            table[title] = reason.strip()
    return table


def install(work):
    """test262-parser-tests, once."""
    root = work / "node_modules" / PACKAGE
    about = root / "package.json"
    if (about.exists()
            and json.loads(about.read_text())["version"] == VERSION):
        return root
    work.mkdir(parents=True, exist_ok=True)
    # without it, npm would look for a project further up
    (work / "package.json").write_text('{ "private": true }\n')
    subprocess.run(
        ["npm", "install", "--no-save", "--no-audit", "--no-fund",
         "--no-package-lock", "--ignore-scripts", "--cache", ".npm",
         f"{PACKAGE}@{VERSION}"], cwd=work, check=True,
        stdout=subprocess.DEVNULL)
    return root


def compare(corpus, item):
    """For each test: same, differs or unstable, and what was seen."""
    rounds = [corpus.ways(item)]

    def seen(test, way):
        return {r[way].get(test, "(nothing)") for r in rounds}

    names = [n for way in rounds[0] for n in way]
    suspects = [n for n in dict.fromkeys(names)
                if len({way.get(n) for way in rounds[0]}) > 1]
    for _ in range(AGAIN if suspects else 0):
        rounds.append(corpus.ways(item))

    found = {name: ("same", None) for name in names}
    for name in suspects:
        ways = [seen(name, way) for way in range(len(rounds[0]))]
        apart = any(not ways[0] & other for other in ways[1:])
        found[name] = ("differs" if apart else "unstable", ways)
    return found, rounds[0][1]


class Report:
    def __init__(self, known, verbose):
        self.known, self.used, self.verbose = known, set(), verbose
        self.items = collections.Counter()
        self.counts = collections.defaultdict(collections.Counter)
        self.ends = collections.defaultdict(collections.Counter)
        self.unused = collections.Counter()

    def add(self, corpus, item, found, cold):
        why = corpus.unused(cold)
        self.unused.update([why] if why else [])
        self.items[corpus.title] += 1 if not why else 0
        if self.verbose:
            print(f"# {corpus.title}/{item}: {len(found) - 1} tests")
        for test, (what, ways) in found.items():
            title = f"{corpus.title}/{item} {test}".strip()
            if what != "same" and title in self.known:
                what = "known"
                self.used.add(title)
            if test != END or what != "same":
                self.counts[corpus.title][what] += 1
            if what in ("differs", "unstable"):
                print(f"{what}: {title}")
                for way, texts in zip(("zygote", "cold", "outside"), ways):
                    for text in sorted(texts):
                        print(f"   {way}: {text[:700]}")
        for how in (how for test, how in cold.items() if test != END):
            self.ends[corpus.title][how.split()[0]] += 1
        sys.stdout.flush()

    def tell_left_out(self, complete):
        kinds = {"modules": self.unused, "parts of others":
                 collections.Counter()}
        table = read_table("left_out.txt") if complete else {}
        for what, reason in table.items():
            where = "parts of others" if "." in what else "modules"
            kinds[where][reason.split(":")[0]] += 1
        for where, counts in kinds.items():
            if counts:
                told = ", ".join(f"{n} {why}" for why, n
                                 in counts.most_common())
                print(f"# left out, {where}: {counts.total()}: {told}")

    def close(self, complete):
        bad = 0
        for title, counts in self.counts.items():
            ends = ", ".join(f"{n} {how}" for how, n
                             in self.ends[title].most_common(6))
            print(f"# {title}: how they ended: {ends}")
            bad += counts["differs"]
        mended = set(self.known) - self.used if complete else ()
        for title in mended:
            print(f"mended: {title} is in differences.txt, but is the same")
        self.tell_left_out(complete)
        for title, counts in self.counts.items():
            print(f"corpora: {self.items[title]} runs of {title}, "
                  f"{counts.total()} tests, {counts['same']} the same, "
                  f"{counts['known']} differ as listed, "
                  f"{counts['differs']} differ unlisted, "
                  f"{counts['unstable']} unstable")
        return not bad and not mended and bool(self.counts)


def check_paths(inside):
    """That one is a zygote's child, as soon as there is one, and the other one
    is not."""
    def says(language, cold, wanted):
        outcome = inside.run(job(language, WITNESS[language].encode()), cold)
        return outcome.output.strip() == wanted

    for language in WITNESS:
        wait_for(f"a zygote of {language}", lambda: says(language, False,
                                                         b"True"), 60)
        if not says(language, True, b"False"):
            sys.exit(f"corpora: {language} does not start cold")


def run_all(corpora, patterns, report):
    todo = [(corpus, item) for corpus in corpora for item in corpus.items()
            if not patterns or any(p in f"{corpus.title}/{item}"
                                   for p in patterns)]
    if not todo:
        sys.exit("corpora: no such test")
    with concurrent.futures.ThreadPoolExecutor(
            len(os.sched_getaffinity(0))) as pool:
        running = {pool.submit(compare, *what): what for what in todo}
        try:
            for done in concurrent.futures.as_completed(running):
                report.add(*running[done], *done.result())
        finally:
            pool.shutdown(cancel_futures=True)


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--build", required=True)
    p.add_argument("--nginx", default=shutil.which("nginx")
                   or "/usr/sbin/nginx")
    p.add_argument("--port", type=int, default=19496,
                   help="this one and the next")
    p.add_argument("--work", type=pathlib.Path, help="where npm installs")
    p.add_argument("--verbose", action="store_true", help="name each run")
    p.add_argument("name", nargs="*", help="parts of names")
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    args.work = args.work or pathlib.Path(args.build, "tests/corpora")
    args.keep = False
    return args


def main():
    sys.stdout.reconfigure(line_buffering=True)     # it takes a while
    args = options()
    root = install(args.work.resolve())
    report = Report(read_table("differences.txt"), args.verbose)
    fidelity.hear_signals()

    # where the workers of a root's nginx can look
    with tempfile.TemporaryDirectory(prefix="corpora.") as args.root:
        os.chmod(args.root, 0o755)
        site = Site(args, "nginx")
        try:
            site.start(http=PLENTY + SERVER % (
                args.port + 1, SECONDS, SECONDS))
            inside = Inside(args.port + 1)
            check_paths(inside)
            run_all([CPython(inside), Parser(inside, root),
                     Programs(inside, root)], args.name, report)
            site.stop()
        finally:
            site.clean()
    sys.exit(0 if report.close(not args.name) else 1)


if __name__ == "__main__":
    main()
