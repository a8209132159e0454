#!/usr/bin/python3
"""deer-flow calibrate, on programs whose needs are known.  Prints TAP.

    run.py --build DIR [NAME...]

What is proposed must let the program end as it did, must be near what it takes,
must be what nginx accepts, and with a part of it the program must fail: a
proposal that no limit could fall short of would be worth nothing.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

MIB = 1 << 20
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
ENV = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
       "HOME": "/tmp"}

# name, text, what is measured: {limit: (least, most)}
PROGRAMS = [
    ("small.py", "print(1)\n",
     {"processes": (1, 1), "output": (2, 2), "threads": (0, 0)}),
    ("memory.py", "a = bytearray(40 << 20)\nb = bytearray(30 << 20)\n",
     {"memory": (69 * MIB, 72 * MIB), "allocation": (40 * MIB, 41 * MIB)}),
    ("threads.py", "import threading\nb = threading.Barrier(20)\n"
     "t = [threading.Thread(target=b.wait) for _ in range(20)]\n"
     "[x.start() for x in t]; [x.join() for x in t]\n",
     {"threads": (20, 24)}),
    ("files.py", "a = [open('/dev/null') for _ in range(300)]\n",
     {"open_files": (303, 310)}),
    ("fork.py", "import os\nfor _ in range(3):\n    p = os.fork()\n"
     "    if p == 0: os._exit(0)\n    os.waitpid(p, 0)\n",
     {"processes": (2, 4)}),
    ("output.py", "print('x' * 300000)\n", {"output": (300001, 300001)}),
    ("disk.py", "open('/tmp/x', 'wb').write(bytes(40 << 20))\n", {}),
    ("fails.py", "raise SystemExit(3)\n", {"processes": (1, 1)}),
    ("stdin.py", "print(input())\n", {"output": (6, 6)}),
    ("small.js", "console.log(1)\n",
     {"processes": (1, 1), "output": (2, 2)}),
    ("memory.js", "const b = Buffer.alloc(70 * 2 ** 20, 1)\n",
     {"memory": (70 * MIB, 90 * MIB)}),
]

# With so much of a proposal the program must not end as it did.
TOO_LITTLE = [
    ("memory.py", "memory", 2), ("threads.py", "threads", 2),
    ("files.py", "open_files", 2), ("output.py", "output", 4),
    ("disk.py", "disk", 4), ("memory.js", "memory", 2),
]

checks = failures = 0


def check(ok, name, *notes):
    global checks, failures
    checks += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {checks} - {name}")
    for note in notes if not ok else ():
        print("#", str(note)[:2000].replace("\n", "\n# "))
    sys.stdout.flush()


class Command:
    def __init__(self, build, work):
        self.path = os.path.join(build, "deer-flow")
        self.work = work

    def __call__(self, *argv, stdin=None):
        return subprocess.run([self.path, *argv], env=ENV, cwd=self.work,
                              input=stdin, capture_output=True, text=True,
                              timeout=120)

    def options(self, limits):
        return [word for name, value in limits.items() if value is not None
                for word in ("--" + name.replace("_", "-"), str(value))]


def calibrate(command, name, measured):
    stdin = ["--stdin", "-"] if name.startswith("stdin") else []
    done = command("calibrate", "--json", *stdin, name, stdin="hello")
    if done.returncode != 0:
        check(False, f"{name}: calibrated", done.stdout, done.stderr)
        return None
    result = json.loads(done.stdout)
    check(result["verified"] and result["runs"] >= 2,
          f"{name}: proved by a run with what is proposed", result)

    for limit, (least, most) in measured.items():
        value = result["measured"][limit]
        check(value is not None and least <= value <= most,
              f"{name}: {limit} measured", value, result)
    for limit, value in result["measured"].items():
        check(value is None or result["proposed"][limit] is None
              or value <= result["proposed"][limit],
              f"{name}: {limit} proposed with room", result)
    return result


def again(command, name, result):
    """The proposal as options of run."""
    stdin = ["--stdin", "-"] if name.startswith("stdin") else []
    done = command("run", "--json", *stdin,
                   *command.options(result["proposed"]), name, stdin="hello")
    verdict = json.loads(done.stdout)
    check(verdict["status"] == result["status"]
          and verdict["exit_code"] == result["exit_code"],
          f"{name}: ends as it did with the proposal", verdict)


def too_little(command, results):
    for name, limit, part in TOO_LITTLE:
        if results.get(name) is None:
            continue
        limits = dict(results[name]["proposed"])
        limits[limit] //= part
        done = command("run", "--json", *command.options(limits), name)
        verdict = json.loads(done.stdout)
        check(verdict["status"] != results[name]["status"],
              f"{name}: not with 1/{part} of the {limit}", verdict)


def directives(command, build, results):
    """What is to be pasted, in one configuration each."""
    for name in ("threads.py", "disk.py", "small.js"):
        human = command("calibrate", name)
        lines = [l for l in human.stdout.splitlines() if l[:1] != "#"]
        check(human.returncode == 0 and len(lines) >= 7
              and all(l.startswith("sandbox_") for l in lines)
              and human.stdout.startswith(f"# {name}: success"),
              f"{name}: for people, too", human.stdout, human.stderr)

        conf = os.path.join(command.work, "nginx.conf")
        with open(conf, "w") as f:
            f.write(f"load_module {build}/ngx_http_sandbox_module.so;\n"
                    f"pid {command.work}/nginx.pid;\nevents {{ }}\nhttp {{\n"
                    "access_log off;\nserver { listen 127.0.0.1:19531;\n"
                    "location /run { sandbox any;\n"
                    + human.stdout + "}\n}\n}\n")
        done = subprocess.run([NGINX, "-t", "-e", "stderr", "-c", conf,
                               "-p", command.work], env=ENV,
                              capture_output=True, text=True)
        check(done.returncode == 0 and "[warn]" not in done.stderr
              .replace('the "user" directive', ""),
              f"{name}: nginx takes the lines", done.stderr, human.stdout)


def refusals(command):
    with open(os.path.join(command.work, "loop.py"), "w") as f:
        f.write("while True: pass\n")
    done = command("calibrate", "--timeout", "500ms", "loop.py")
    check(done.returncode == 1 and done.stdout == ""
          and "nothing to measure by" in done.stderr
          and "500ms" in done.stderr, "an endless program is none to measure",
          done.stdout, done.stderr)

    done = command("calibrate", "--memory", "16m", "memory.py")
    check(done.returncode == 1 and "memory limit of 16m" in done.stderr,
          "a limit that is given stays", done.stdout, done.stderr)

    done = command("calibrate", "--processes", "1", "--json", "small.py")
    check(done.returncode == 0
          and json.loads(done.stdout)["proposed"]["processes"] == 1,
          "and is proposed as it is", done.stdout, done.stderr)

    with open(os.path.join(command.work, "raises.py"), "w") as f:
        f.write("raise ValueError('of its own')\n")
    done = command("calibrate", "raises.py")
    check(done.returncode == 0 and "sandbox_memory" in done.stdout
          and "measured until it failed" in done.stderr
          and "ValueError: of its own" in done.stderr,
          "a program that fails is measured, and said to fail", done.stdout,
          done.stderr)

    done = command("calibrate", "nowhere.py")
    check(done.returncode == 2 and "nowhere.py" in done.stderr,
          "no such file", done.stderr)


def mistakes(command):
    """One line, that begins with the command's name and has the word."""
    for argv, code, said in (
            (("run", "--bogus", "small.py"), 2, "no such option, or more than "
             "one begins so: --bogus"),
            (("run", "--mem", "small.py"), 2, "one begins so: --mem"),
            (("run", "-xy", "small.py"), 2, "one begins so: -x (deer-flow run --help"),
            (("run", "--json=1", "small.py"), 2, "takes no value: --json=1"),
            (("run", "--memory"), 2, "needs a value: --memory"),
            (("run", "--memory", "1x", "small.py"), 2, "64g: 1x"),
            (("run", "--language", "rust", "small.py"), 125,
             "deer-flow: language: \"rust\" is not one of"),
            (("calibrate", "--language", "rust", "small.py"), 1,
             "deer-flow: language: \"rust\" is not one of")):
        done = command(*argv)
        check(done.returncode == code and said in done.stderr
              and done.stderr.startswith("deer-flow: ")
              and done.stderr.count("\n") == 1 and done.stdout == "",
              "mistake: " + " ".join(argv), done.returncode, done.stderr)

    done = command("help")
    check(done.returncode == 0 and "calibrate" in done.stdout
          and done.stdout == command("--help").stdout, "help", done.stderr)
    done = command("halp")
    check(done.returncode == 2 and "no such command: halp" in done.stderr,
          "no such command", done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    build = os.path.abspath(options.build)

    with tempfile.TemporaryDirectory(prefix="deer-flow-calibrate-") as work:
        command = Command(build, work)
        results = {}
        for name, text, measured in PROGRAMS:
            with open(os.path.join(work, name), "w") as f:
                f.write(text)
        for name, text, measured in PROGRAMS:
            if options.names and name not in options.names:
                continue
            results[name] = calibrate(command, name, measured)
            if results[name] is not None:
                again(command, name, results[name])
        too_little(command, results)
        if not options.names:
            directives(command, build, results)
            refusals(command)
            mistakes(command)

    print(f"1..{checks}")
    print(f"# {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
