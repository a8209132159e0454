#!/usr/bin/python3
"""Clients against the example: others', unmodified, and our own.  Prints TAP.

    run.py --url http://127.0.0.1:8080 --work DIRECTORY

piston-client comes from the npm registry, once, into DIRECTORY; curl, ab and
wrk from the distribution.  Nothing is compared with a time.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OURS = HERE.parents[1] / "examples/clients"
CLIENT, VERSION = "piston-client", "1.0.2"
EXECUTE = "/api/v2/execute"
JSON = "Content-Type: application/json"
HELLO = {"language": "python", "version": "3",
         "files": [{"content": "print('hello')"}]}

checks = failures = 0


def check(ok, name, *notes):
    global checks, failures
    checks += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {checks} - {name}")
    for note in notes if not ok else ():
        print("#", str(note)[:1500].replace("\n", "\n# "))
    sys.stdout.flush()


def run(command, work, stdin=None, env=None):
    """Its exit code and all that it printed."""
    clean = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(work),
             "LANG": "C.UTF-8"}
    try:
        done = subprocess.run(
            command, cwd=work, env=env or clean, input=stdin or b"",
            timeout=180,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as error:
        return -1, f"not ended after {error.timeout} s\n"
    return done.returncode, done.stdout.decode(errors="replace")


def install(work):
    """The client in work/node_modules; kept there for the next time."""
    about = work / "node_modules" / CLIENT / "package.json"
    if about.exists() and json.loads(about.read_text())["version"] == VERSION:
        return 0, ""
    # without it, npm would look for a project further up
    (work / "package.json").write_text('{ "private": true }\n')
    code, said = 1, ""
    for _ in range(2):
        # the user's own environment: proxies, certificates, another registry
        code, said = run(
            ["npm", "install", "--no-save", "--no-audit", "--no-fund",
             "--no-package-lock", "--ignore-scripts", "--cache", ".npm",
             f"{CLIENT}@{VERSION}"], work, env=dict(os.environ))
        if code == 0:
            break
    return code, said


def check_piston_client(url, work):
    code, said = install(work)
    check(code == 0, f"npm installs {CLIENT} {VERSION}", said)
    if code != 0:
        return
    shutil.copy(HERE / "piston.mjs", work)
    code, said = run(["node", "piston.mjs", url], work)
    try:
        said = [json.loads(line) for line in said.splitlines()]
    except ValueError:
        code = -1
    check(code == 0 and len(said) == 10, f"{CLIENT} runs", code, said)
    if code != 0 or len(said) != 10:
        return
    (runtimes, python, node, stdin, files, error, late, memory, unknown,
     version) = said
    check([r["language"] for r in runtimes] == ["javascript", "python"]
          and all(re.fullmatch(r"\d+\.\d+\.\d+", r["version"])
                  for r in runtimes), "it lists the runtimes", runtimes)
    rows = [
        ("Python", python, "stdout", "42 ['1', '2', '3']\n"),
        ("Node.js", node, "stdout", "42 [ '1', '2', '3' ]\n"),
        ("standard input", stdin, "stdout", "héllo 🐍\n"),
        ("several files", files, "stdout", "1\n"),
        ("an exit code", error, "code", 3),
        ("a time limit", late, "status", "TO"),
        ("a memory limit", memory, "signal", "SIGKILL"),
    ]
    for name, answer, key, wanted in rows:
        check(answer.get("run", {}).get(key) == wanted, f"it runs: {name}",
              answer)
    check(unknown == {"message": "version is required as a string"}
          and version == {"message": "cobol-1.0.0 runtime is unknown"},
          "it is told of a language that is not there", unknown, version)


def check_curl(url, work):
    """One transfer in several forms; the answer is the same."""
    body = json.dumps(HELLO).encode()
    large = json.dumps({**HELLO, "stdin": "x" * 500_000}).encode()
    forms = [
        ("HTTP/1.1", body, []),
        ("HTTP/1.0", body, ["--http1.0"]),
        ("a chunked body", body, ["-H", "Transfer-Encoding: chunked"]),
        ("Expect: 100-continue", large, ["-H", "Expect: 100-continue"]),
        ("a compressed answer, if any", body, ["--compressed"]),
    ]
    for name, data, options in forms:
        code, said = run(["curl", "-sS", "-m", "60", "-H", JSON, *options,
                          "--data-binary", "@-", url + EXECUTE], work, data)
        check(code == 0 and '"stdout":"hello\\n"' in said, f"curl: {name}",
              code, said)
    code, said = run(["curl", "-sS", "-m", "60", "-I",
                      url + "/api/v2/runtimes"], work)
    check(code == 0 and said.startswith("HTTP/1.1 200"), "curl: HEAD", said)


def check_load(url, work):
    """ab and wrk see no answer but 200."""
    for path, body in ((EXECUTE, HELLO),
                       ("/run", {"language": "python", "code": "print(1)"})):
        (work / "body.json").write_text(json.dumps(body))
        code, said = run(["ab", "-q", "-l", "-k", "-n", "60", "-c", "4", "-p",
                          "body.json", "-T", "application/json", url + path],
                         work)
        check(code == 0 and re.search(r"Complete requests: +60\n", said)
              and re.search(r"Failed requests: +0\n", said)
              and "Non-2xx" not in said, f"ab: {path}", said)
        (work / "post.lua").write_text(
            f'wrk.method = "POST"\nwrk.body = [[{json.dumps(body)}]]\n'
            'wrk.headers["Content-Type"] = "application/json"\n')
        code, said = run(["wrk", "-t", "1", "-c", "4", "-d", "2s", "--timeout",
                          "60s", "-s", "post.lua", url + path], work)
        count = re.search(r"(\d+) requests in", said)
        check(code == 0 and count and int(count.group(1)) > 0
              and "Non-2xx" not in said and "Socket errors" not in said,
              f"wrk: {path}", said)


def check_thin_client(url, work):
    """examples/clients/deer_flow.py, as a class and as a command."""
    sys.path.insert(0, str(OURS))
    import deer_flow
    sandbox = deer_flow.Sandbox(mem_limit_mb=100, url=url + "/run")
    rows = [
        ("a.py", "print(6 * 7)\n", 5, "success", "42\n"),
        ("a.js", "console.log(6 * 7)\n", 5, "success", "42\n"),
        ("b.py", "b'x' * (200 << 20)\n", 5, "memory_exceeded", ""),
        ("c.py", "while True: pass\n", 0.3, "timeout", ""),
        ("d.py", "print(1)\n", 3600, "invalid", None),
    ]
    for name, code, timeout, status, output in rows:
        (work / name).write_text(code)
        verdict = sandbox.run(str(work / name), timeout=timeout)
        check(verdict["status"] == status
              and output in (None, verdict["output"]),
              f"the thin client: {status} of {name}", verdict)

    command = [sys.executable, str(OURS / "deer_flow.py")]
    code, said = run(command, work)
    check(code == 2 and said.startswith("usage: "),
          "the thin client's command: usage", code, said)
    env = {"PATH": "/usr/bin:/bin", "DEER_FLOW_URL": url + "/run"}
    code, said = run(command + ["a.py"], work, env=env)
    check(code == 0 and json.loads(said)["output"] == "42\n",
          "the thin client's command: a verdict", code, said)
    for path, wanted in (("/nowhere", "HTTP 404, and no verdict"),
                         (":1/run", "deer_flow.py: ")):
        env["DEER_FLOW_URL"] = url + path
        code, said = run(command + ["a.py"], work, env=env)
        check(code == 1 and wanted in said and said.count("\n") == 1,
              f"the thin client's command: {path}", code, said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    work = pathlib.Path(options.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    url = options.url.rstrip("/")
    check_piston_client(url, work)
    check_curl(url, work)
    check_load(url, work)
    check_thin_client(url, work)
    print(f"1..{checks}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
