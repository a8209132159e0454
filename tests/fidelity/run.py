#!/usr/bin/python3
"""
Runs every program of the corpus outside and inside, and compares.

Outside is the plain interpreter in a mount namespace: the same path
(/tmp/run), the same environment, pipes for the three streams.  It runs twice;
a program whose two outside runs differ proves nothing and is an error of the
corpus.  Inside is a running nginx (--url) or the command (--command).  Compared
are the bytes of both streams and the exit code or signal; hexadecimal addresses
count as equal.

Beside PROGRAM.py (.js, .mjs) may lie, with the same stem: .in (stdin), .args
(one a line), .env (NAME=value, one a line), .limits (name=value, one a line)
and .files/ (extra files).  differences.txt holds what is known to differ, and
why.
"""

import argparse
import base64
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 30

# sbx_child_env, and the interpreters as the runtimes start them
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
# each exec keeps the process: its end is the program's own
WRAP = [
    "unshare", "--user", "--map-root-user", "--mount", "--net", "--ipc", "--",
    "sh", "-c",
    "mount -t tmpfs tmpfs /tmp && mkdir /tmp/run && "
    "mount --bind \"$1\" /tmp/run && cd /tmp/run && shift && "
    "exec unshare --user --map-user=1000 --map-group=1000 -- env -i \"$@\"",
    "sh",
]
LANGUAGES = {
    "python": (["python3"], [".py"]),
    "node": (["/usr/bin/node", "--no-warnings"], [".js", ".mjs", ".cjs"]),
}


class Program:
    def __init__(self, language, path):
        self.language = language
        self.title = f"{language}/{path.name}"
        self.name = "main" + path.suffix
        self.code = path.read_bytes()
        stem = path.with_suffix("")
        self.stdin = self.sidecar(stem, ".in")
        self.args = self.sidecar(stem, ".args").decode().splitlines()
        self.env = dict(self.pairs(stem, ".env"))
        self.limits = dict(self.pairs(stem, ".limits"))
        root = stem.with_name(stem.name + ".files")
        self.files = {
            str(file.relative_to(root)): file.read_bytes()
            for file in sorted(root.rglob("*"))
            if file.is_file() and "__pycache__" not in file.parts
        }

    @staticmethod
    def sidecar(stem, suffix):
        path = stem.with_name(stem.name + suffix)
        return path.read_bytes() if path.exists() else b""

    def pairs(self, stem, suffix):
        for line in self.sidecar(stem, suffix).decode().splitlines():
            name, _, value = line.partition("=")
            yield name, value


class Outcome:
    """How it ended and what it wrote; text: streams in repaired UTF-8."""

    def __init__(self, end, output, stderr, text=False):
        self.end, self.output, self.stderr = end, output, stderr
        self.text = text

    def view(self, text):
        streams = []
        for stream in (self.output, self.stderr):
            if text and not self.text:
                stream = stream.decode(errors="replace").encode()
            # an address, and which file it is in: V8's built-in code is not
            # copied out of the program here
            streams.append(re.sub(rb"0x[0-9a-f]+( +(\[/[^]]*\])?$)?", b"0x...",
                                  stream, flags=re.MULTILINE))
        return (self.end, *streams)

    def same(self, other):
        text = self.text or other.text
        return self.view(text) == other.view(text)

    def show(self):
        parts = [" ".join(map(str, self.end))]
        for name, stream in (("stdout", self.output), ("stderr", self.stderr)):
            if stream:
                parts.append(f"{name}: {stream[-1500:]!r}")
        return "\n      ".join(parts)


def outside(program):
    command, _ = LANGUAGES[program.language]
    environment = {**ENVIRONMENT, **program.env}
    with tempfile.TemporaryDirectory(prefix="fidelity-",
                                     dir="/var/tmp") as directory:
        for name, data in {program.name: program.code,
                           **program.files}.items():
            path = pathlib.Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        done = subprocess.run(
            [*WRAP, directory, *(f"{name}={value}" for name, value
                                 in environment.items()),
             *command, program.name, *program.args],
            input=program.stdin, capture_output=True, timeout=SECONDS,
            umask=0o022)
    code = done.returncode
    end = ("exit", code) if code >= 0 else ("signal",
                                            signal.Signals(-code).name)
    return Outcome(end, done.stdout, done.stderr)


def twice(program):
    return outside(program), outside(program)


def verdict_end(verdict):
    if verdict.get("signal"):
        return ("signal", verdict["signal"])
    if verdict.get("status") in ("success", "error"):
        return ("exit", verdict["exit_code"])
    return ("verdict", verdict.get("status"), verdict.get("reason"),
            verdict.get("error"))


def request(program):
    body = {
        "language": program.language, "code": program.code.decode(),
        "name": program.name, "stdin": {
            "base64": base64.b64encode(program.stdin).decode()},
        "args": program.args, "env": program.env, "encoding": "base64",
        "files": [{"path": path, "base64": base64.b64encode(data).decode()}
                  for path, data in program.files.items()],
    }
    if program.limits:
        body["limits"] = program.limits
    return json.dumps(body).encode()


class Url:
    """The native contract, over one connection that is kept."""

    def __init__(self, url):
        self.url = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(self.url.netloc,
                                                     timeout=SECONDS)

    def run(self, program):
        self.connection.request("POST", self.url.path or "/run",
                                request(program),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        body = answer.read()
        try:
            verdict = json.loads(body)
            return Outcome(verdict_end(verdict),
                           base64.b64decode(verdict["output"] or ""),
                           base64.b64decode(verdict["stderr"] or ""))
        except (ValueError, KeyError):
            return Outcome(("http", answer.status), body, b"")


class Command:
    """`deer-flow run --json`, whose streams are repaired UTF-8."""

    def __init__(self, command):
        self.command = shlex.split(command)

    def run(self, program):
        if program.files:
            return None
        with tempfile.TemporaryDirectory(prefix="fidelity-") as directory:
            code = pathlib.Path(directory, program.name)
            code.write_bytes(program.code)
            stdin = pathlib.Path(directory, "stdin")
            stdin.write_bytes(program.stdin)
            command = [*self.command, "--json", "--language",
                       program.language, "--stdin", str(stdin)]
            for name, value in program.env.items():
                command += ["--env", f"{name}={value}"]
            for name, value in program.limits.items():
                command += ["--" + name.replace("_", "-"), value]
            done = subprocess.run([*command, str(code), *program.args],
                                  capture_output=True, timeout=SECONDS)
        try:
            verdict = json.loads(done.stdout)
        except ValueError:
            return Outcome(("command", done.returncode), done.stdout,
                           done.stderr)
        return Outcome(verdict_end(verdict), verdict["output"].encode(),
                       verdict["stderr"].encode(), text=True)


def load(languages, patterns):
    for language in languages:
        _, suffixes = LANGUAGES[language]
        for path in sorted((HERE / language).iterdir()):
            if path.suffix in suffixes and path.is_file():
                if not patterns or any(p in f"{language}/{path.name}"
                                       for p in patterns):
                    yield Program(language, path)


def load_differences():
    known = {}
    for line in (HERE / "differences.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            title, _, reason = line.partition(" ")
            known[title] = reason.strip()
    return known


def examine(program, pair, inside):
    """One of: same, differs, unstable, left out; and the two to show."""
    first, second = pair
    if not first.same(second):
        return "unstable", first, second
    got = inside.run(program)
    if got is None:
        return "left out", None, None
    return ("same" if got.same(first) else "differs"), first, got


class Report:
    """Prints as results come; true at the end when nothing is amiss."""

    def __init__(self, known, verbose):
        self.known, self.verbose = known, verbose
        self.counts = dict.fromkeys(
            ("same", "known", "differs", "mended", "unstable", "left out"), 0)

    def add(self, program, what, first, second):
        if what == "differs" and program.title in self.known:
            what = "known"
        elif what == "same" and program.title in self.known:
            what = "mended"
        self.counts[what] += 1
        if what in ("differs", "unstable") or what == "known" and self.verbose:
            print(f"{what}: {program.title}\n   outside: {first.show()}\n"
                  f"   {'again' if what == 'unstable' else 'inside'}: "
                  f"{second.show()}", flush=True)
        elif what == "mended":
            print(f"mended: {program.title} is in differences.txt, but is "
                  "the same", flush=True)
        elif what == "left out":
            print(f"left out: {program.title} has extra files, which the "
                  "command cannot take", flush=True)

    def close(self):
        counts = self.counts
        print(f"fidelity: {sum(counts.values())} programs, "
              f"{counts['same']} the same, {counts['known']} differ as "
              f"listed, {counts['differs']} differ unlisted, "
              f"{counts['mended']} listed but the same, "
              f"{counts['unstable']} unstable, {counts['left out']} left out")
        return not (counts["differs"] or counts["mended"]
                    or counts["unstable"])


def hear_signals():
    """A shell in the background, or nohup, leaves signals ignored; a program
    outside would inherit that, one inside does not."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT,
                   signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", help="a location with `sandbox any`")
    where.add_argument("--command", help="such as 'build/deer-flow run'")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--verbose", action="store_true",
                        help="show the listed differences too")
    parser.add_argument("patterns", nargs="*", help="parts of names")
    options = parser.parse_args()

    hear_signals()
    inside = Url(options.url) if options.url else Command(options.command)
    programs = list(load(options.language or LANGUAGES, options.patterns))
    if not programs:
        sys.exit("fidelity: no such program")

    report = Report(load_differences(), options.verbose)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, pair in zip(programs, pool.map(twice, programs)):
            report.add(program, *examine(program, pair, inside))
    sys.exit(0 if report.close() else 1)


if __name__ == "__main__":
    main()
