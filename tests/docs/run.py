#!/usr/bin/python3
"""Runs what the documents show, and compares it with what they say.

A fenced block is a test when its info string says so; what it is stands
behind the language, so that readers see plain code:

    ```sh test          commands; the next fenced block is what they print
    ```lua policy=NAME  a policy; the server has it at location /NAME
    ```nginx location   lines for a location's server{}; nginx -t accepts them
    ```nginx http       lines for http{}; nginx -t accepts them

In expected output "…" stands for anything within a line, a line of "…" alone
for any lines.  Commands run in an empty directory, with deer-flow in PATH and
8080 replaced by the port of the server, which is started from
examples/nginx.conf.  Besides, every directive, option and limit that the
source has must be in the manual pages, and no file a document links to may be
missing.

    tests/docs/run.py [--build DIR] [DOCUMENT…]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "DESIGN.md", "HACKING.md", "SECURITY.md",
             "CHANGELOG.md", "docs/policy.md", "docs/facades.md",
             "docs/troubleshooting.md"]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
START_SECONDS = 40
COMMAND_SECONDS = 60


class Report:
    """TAP on standard output."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, ok, name, detail=""):
        self.count += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}")
        if not ok:
            for line in detail.splitlines():
                print(f"#   {line}")
        sys.stdout.flush()

    def finish(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def blocks(path):
    """Yields (line, info, text) of each fenced block."""
    info, start, lines = None, 0, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r"```(.*)$", line)
        if fence and info is None:
            info, start, lines = fence.group(1).strip(), number, []
        elif fence:
            yield start, info, "\n".join(lines) + "\n"
            info = None
        elif info is not None:
            lines.append(line)
    if info is not None:
        raise SystemExit(f"{path}:{start}: block is not closed")


def pattern(expected):
    """The regular expression for a block of expected output."""
    out = []
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "…":
            out.append(r"(?:.*\n)*?")
        else:
            out.append(".*?".join(re.escape(part) for part in line.split("…"))
                       + r"\n")
    return re.compile("".join(out) + r"\n*\Z")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(build):
    path = f"{build}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    return {"PATH": path, "LANG": "C.UTF-8", "HOME": "/tmp"}


def base_config(build):
    text = (TREE / "examples/nginx.conf").read_text()
    text = re.sub(r"(?m)^load_module .*$",
                  f"load_module {build}/ngx_http_sandbox_module.so;", text)
    text = text.replace("sandbox_policy lua/", f"sandbox_policy {TREE}/lua/")
    if os.geteuid() != 0:
        text = re.sub(r"(?m)^user .*\n", "", text)
    return text


def insert(text, http="", server=""):
    """Adds lines at the end of http{} and of its server{}."""
    assert text.rstrip().endswith("}\n}"), "examples/nginx.conf changed form"
    head = text.rstrip()[:-len("    }\n}")]
    return f"{head}{server}\n    }}\n{http}\n}}\n"


def prefix(directory):
    for name in ("logs", "temp", "html"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    for page in (TREE / "examples").glob("*.html"):
        shutil.copy(page, directory / "html")
    if os.geteuid() == 0:
        os.chmod(directory, 0o755)
    return directory


class Server:
    """nginx with the example's configuration and the documents' policies."""

    def __init__(self, build, directory, policies):
        self.port = free_port()
        self.directory = prefix(directory)
        locations = ""
        for name, text in policies.items():
            path = directory / f"{name}.lua"
            path.write_text(text)
            locations += (f"location = /{name} {{ sandbox any; "
                          f"sandbox_policy {path}; }}\n")
        text = insert(base_config(build), server=locations)
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        (directory / "nginx.conf").write_text(text)
        self.log = open(directory / "nginx.log", "w+")
        self.process = subprocess.Popen(
            [NGINX, "-p", f"{directory}/", "-c", f"{directory}/nginx.conf",
             "-g", "daemon off;"], env=environment(build), stdout=self.log,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def wait(self):
        """Until the supervisor says that it takes jobs."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                url = f"http://127.0.0.1:{self.port}/metrics"
                with urllib.request.urlopen(url, timeout=5) as answer:
                    if "\nsandbox_up 1\n" in answer.read().decode():
                        return True
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(0.1)
        return False

    def logged(self):
        self.log.flush()
        return (self.directory / "nginx.log").read_text()[-4000:]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=30)
        self.log.close()


def without_trailing_blanks(text):
    """Answers over HTTP are padded to equal length; documents show no blanks."""
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


def run_commands(commands, build, port, directory):
    commands = re.sub(r"\b8080\b", str(port), commands)
    done = subprocess.run(
        ["/bin/sh", "-c", commands], cwd=directory, env=environment(build),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, timeout=COMMAND_SECONDS)
    out = done.stdout.decode(errors="replace")
    return out if out.endswith("\n") or not out else out + "\n"


def check_commands(report, document, build, server, directory):
    found = list(blocks(TREE / document))
    for i, (line, info, text) in enumerate(found):
        if info != "sh test":
            continue
        if i + 1 == len(found) or found[i + 1][1].endswith("test"):
            report.check(False, f"{document}:{line}", "no output follows")
            continue
        wanted = found[i + 1][2].replace("8080", str(server.port))
        try:
            got = without_trailing_blanks(
                run_commands(text, build, server.port, directory))
        except subprocess.TimeoutExpired as error:
            got = f"(not ended after {error.timeout} s)\n"
        report.check(pattern(wanted).match(got) is not None,
                     f"{document}:{line} prints what it says",
                     f"commands:\n{text}wanted:\n{wanted}got:\n{got}")


def check_configurations(report, document, build, directory):
    for line, info, text in blocks(TREE / document):
        kind = re.fullmatch(r"nginx (location|http)", info)
        if kind is None:
            continue
        where = prefix(directory / f"conf-{line}")
        part = {"http": text} if kind.group(1) == "http" else {"server": text}
        (where / "nginx.conf").write_text(insert(base_config(build), **part))
        done = subprocess.run(
            [NGINX, "-t", "-p", f"{where}/", "-c", f"{where}/nginx.conf"],
            env=environment(build), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60)
        report.check(done.returncode == 0,
                     f"{document}:{line} is accepted by nginx -t",
                     done.stdout.decode(errors="replace"))


def check_links(report, document):
    path = TREE / document
    broken = []
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target and not (path.parent / target).exists():
            broken.append(target)
    report.check(not broken, f"{document}: links lead somewhere",
                 "\n".join(broken))


def source_names():
    """Directives, limits, options and variables, as the source has them."""
    module = TREE / "module"
    limits = re.findall(r'^        "(\w+)", SBX_UNIT',
                        (TREE / "sandbox/sbx_limit.c").read_text(), re.M)
    directives = re.findall(
        r'ngx_string\("(sandbox\w*)"\),\s+NGX_HTTP',
        (module / "ngx_http_sandbox_module.c").read_text())
    variables = re.findall(
        r'ngx_string\("(sandbox_\w+)"\), NULL',
        (module / "ngx_http_sandbox_variables.c").read_text())
    options = re.findall(
        r'\{ "([\w-]+)", (?:required|no)_argument',
        (TREE / "sandbox/sbx_cmd_job.c").read_text()
        + (TREE / "sandbox/sbx_cmd_serve.c").read_text())
    # what a job may have, and what the library is to Lua's own
    library = [name for path in ("lua/sbx_lua_codec.c", "lua/sbx_lua_decode.c",
                            "lua/sbx_lua_clock.c")
               for name in re.findall(r'(?m)^    \{ "(\w+)", \w+ \},$',
                                      (TREE / path).read_text())]
    job = re.findall(r'(?m)^    \{ "(\w+)", \w*read_\w+ \},$',
                     (TREE / "lua/sbx_lua_job.c").read_text())
    # of the verdict's words, those that some file gives
    given = "".join(path.read_text() for where in ("sandbox", "module")
                    for path in (TREE / where).glob("*.c")
                    if path.name != "sbx_verdict.c")
    words = [word for symbol, word in
             re.findall(r'\[(SBX_(?:REASON|SOURCE)_\w+)\] = "(\w+)"',
                        (TREE / "sandbox/sbx_verdict.c").read_text())
             if symbol in given]
    compare = re.findall(r'\[SBX_COMPARE_\w+\] = "(\w+)"',
                         (TREE / "sandbox/sbx_compare.c").read_text())
    functions = re.findall(r'\[SBX_LUA_\w+\] = "(\w+)"',
                           (TREE / "lua/sbx_lua.c").read_text())
    commands = re.findall(r'\{ "(\w+)", \w+, "',
                          (TREE / "sandbox/sbx_main.c").read_text())
    return {
        "directives": directives + [f"sandbox_{name}" for name in limits],
        "limits": limits, "variables": variables, "options": options,
        "commands": commands, "library": library, "job": job,
        "words": words, "compare": compare, "functions": functions,
    }


def check_names(report):
    names = source_names()
    page5 = (TREE / "docs/ngx_http_sandbox_module.5").read_text()
    page1 = (TREE / "docs/deer-flow.1").read_text()
    page_policy = (TREE / "docs/deer-flow-policy.5").read_text()
    readme = (TREE / "README.md").read_text()
    flags = [f"-{name}" for name in names["options"]]
    flags += [f"-{name.replace('_', '-')}" for name in names["limits"]]
    wanted = [
        ("docs/ngx_http_sandbox_module.5", page5, "directives",
         names["directives"]),
        ("docs/ngx_http_sandbox_module.5", page5, "variables",
         names["variables"]),
        ("docs/ngx_http_sandbox_module.5", page5, "reasons and sources",
         names["words"]),
        ("docs/ngx_http_sandbox_module.5", page5, "comparisons",
         names["compare"]),
        ("docs/deer-flow-policy.5", page_policy, "comparisons",
         names["compare"]),
        ("docs/deer-flow-policy.5", page_policy, "functions of a policy",
         names["functions"]),
        ("README.md", readme, "directives", names["directives"]),
        ("docs/deer-flow-policy.5", page_policy, "functions of the library",
         names["library"]),
        ("docs/deer-flow-policy.5", page_policy, "fields of a job",
         names["job"]),
        ("docs/deer-flow.1", page1, "options", flags),
        ("docs/deer-flow.1", page1, "commands", names["commands"]),
    ]
    for where, text, what, list_ in wanted:
        words = set(re.findall(r"[\w-]+", text))
        missing = [name for name in list_ if name not in words]
        report.check(bool(list_) and not missing, f"{where} has all {what}",
                     "missing: " + " ".join(missing))
    known = set(names["directives"]) | {"sandbox"}
    used = set(re.findall(r"^\.It Ic (sandbox\w*)", page5, re.M))
    report.check(used <= known, "the manual has no directive of its own",
                 " ".join(sorted(used - known)))


def check_manuals(report):
    for name in ("docs/deer-flow.1", "docs/ngx_http_sandbox_module.5",
                 "docs/deer-flow-policy.5"):
        if shutil.which("mandoc"):
            command = ["mandoc", "-Tlint", "-Wwarning", str(TREE / name)]
        else:
            command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8",
                       str(TREE / name)]
        env = environment("/usr/bin")
        env["MANWIDTH"] = "80"
        done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL
                              if command[0] == "man" else subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        said = ((done.stdout or b"") + done.stderr).decode(errors="replace")
        report.check(done.returncode == 0 and not said.strip(),
                     f"{name} is clean for {command[0]}", said)


def check_dashboard(report):
    """Its metrics are documented, and each return code has a label."""
    page5 = (TREE / "docs/ngx_http_sandbox_module.5").read_text()
    panels = json.loads((TREE / "examples/grafana.json").read_text())["panels"]
    asked = " ".join(t["expr"] for p in panels for t in p["targets"])
    known = set(re.findall(r"sandbox_\w+", page5))
    metrics = {re.sub(r"_bucket$", "", m)
               for m in re.findall(r"sandbox_\w+", asked)}
    report.check(len(metrics) > 5 and metrics <= known,
                 "the dashboard's metrics are documented",
                 " ".join(sorted(metrics - known)))
    table = page5.split(".Ss Statuses")[1].split(".El")[0]
    codes = set(re.findall(r"\b\d+\b", " ".join(
        re.findall(r"(?m)^\.It \w+ Ta ([\d, ]+) Ta", table))))
    labels = {o["matcher"]["options"] for p in panels
              for o in p["fieldConfig"]["overrides"]}
    report.check(len(codes) > 7 and codes <= labels,
                 "the dashboard has a label for each return code",
                 " ".join(sorted(codes - labels)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("documents", nargs="*")
    options = parser.parse_args()
    build = (TREE / options.build).resolve()
    documents = options.documents or DOCUMENTS
    report = Report()

    for document in documents:
        check_links(report, document)
    if not options.documents:
        check_names(report)
        check_manuals(report)
        check_dashboard(report)

    policies = {}
    for document in documents:
        for _, info, text in blocks(TREE / document):
            name = re.fullmatch(r"lua policy=(\w+)", info)
            if name:
                policies[name.group(1)] = text

    with tempfile.TemporaryDirectory(prefix="sbx-docs-") as name:
        directory = pathlib.Path(name)
        os.chmod(directory, 0o755)
        work = directory / "work"
        work.mkdir()
        server = Server(build, directory / "server", policies)
        try:
            report.check(server.wait(), "the example's server starts",
                         server.logged())
            for document in documents:
                check_configurations(report, document, build, directory)
                check_commands(report, document, build, server, work)
        finally:
            server.stop()

    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
