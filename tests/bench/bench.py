#!/usr/bin/python3
"""What a run costs: ratios to starting the interpreter, in one interleaved run.

Starts two nginx of its own (standby children, and none), measures variants in
turn, prints medians, 99th percentiles and ratios as Markdown, or JSON with
--json.  Reports, asserts nothing: machines differ.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp"}
HELLO = {"python": "print(1+1)\n", "node": "console.log(1+1)\n"}
COLD = {"python": ["/usr/bin/python3"], "node": ["/usr/bin/node",
                                                 "--no-warnings"]}

CONF = """\
load_module {build}/ngx_http_sandbox_module.so;
daemon off;
worker_processes 2;
pid {dir}/nginx.pid;
error_log {dir}/error.log warn;
{user}
events {{ worker_connections 256; }}
http {{
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    sandbox_standby {standby};
    {more}
    server {{
        listen 127.0.0.1:{port};
        location / {{ return 200 "ok"; }}
        location /run {{ sandbox any; }}
        location /policy {{ sandbox any; sandbox_policy {dir}/policy.lua; }}
    }}
}}
"""

# All three hooks, with what a façade does in them.
POLICY = """\
return {
    request = function(req)
        local ask = json.decode(req.body)
        return { language = ask.language, code = ask.code, keep = ask.id }
    end,
    limits = function(job, runtime)
        return { memory = math.min(job.limits.memory, 64 << 20) }
    end,
    response = function(req, verdict)
        return { body = verdict }
    end,
}
"""

# Says when it goes too far, by the clock that all processes share.
VIOLATION = """\
import time
print(time.monotonic_ns(), flush=True)
x = bytearray(10 ** 9)
"""


class Server:
    """One nginx of ours, and a keep-alive connection to it."""

    def __init__(self, build, port, standby, more=""):
        self.dir = tempfile.mkdtemp(prefix="bench-")
        os.chmod(self.dir, 0o755)
        self.port = port
        conf = os.path.join(self.dir, "nginx.conf")
        with open(os.path.join(self.dir, "policy.lua"), "w") as f:
            f.write(POLICY)
        user = "user www-data;" if os.geteuid() == 0 else ""
        with open(conf, "w") as f:
            f.write(CONF.format(build=build, dir=self.dir, port=port,
                                standby=standby, user=user, more=more))
        self.proc = subprocess.Popen(
            ["/usr/sbin/nginx", "-p", self.dir, "-c", conf, "-e",
             os.path.join(self.dir, "error.log")], env=ENV)
        self.sock = None
        deadline = time.monotonic() + 30
        while True:
            try:
                self.connect()
                if self.post("python", HELLO["python"])["status"] == "success":
                    break
            except (OSError, ValueError):
                self.sock = None
            if time.monotonic() > deadline:
                raise SystemExit("nginx does not answer: see " + self.dir)
            time.sleep(0.1)

    def connect(self):
        self.sock = socket.create_connection(("127.0.0.1", self.port), 30)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, request):
        self.sock.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.sock.recv(65536)
            if not part:
                raise OSError("connection closed")
            data += part
        head, body = data.split(b"\r\n\r\n", 1)
        want = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < want:
            body += self.sock.recv(65536)
        return body

    @staticmethod
    def request(language, code, **more):
        body = json.dumps(dict(language=language, code=code, **more)).encode()
        return (b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: "
                b"application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (len(body), body))

    def post(self, language, code, **more):
        return json.loads(self.exchange(self.request(language, code, **more)))

    def stop(self):
        self.proc.send_signal(signal.SIGQUIT)
        self.proc.wait(20)
        shutil.rmtree(self.dir, ignore_errors=True)


def spawn(argv):
    """Start, read its output to the end, reap: what a judge does today."""
    r, w = os.pipe()
    pid = os.posix_spawn(argv[0], argv, ENV, file_actions=[
        (os.POSIX_SPAWN_DUP2, w, 1), (os.POSIX_SPAWN_CLOSE, r)])
    os.close(w)
    out = b""
    while True:
        part = os.read(r, 65536)
        if not part:
            break
        out += part
    os.close(r)
    _, status = os.waitpid(pid, 0)
    if status or out != b"2\n":
        raise SystemExit("%s: %d %r" % (argv, status, out))


def bwrap(argv, name):
    dirs = []
    for d in ("/usr", "/lib", "/lib64", "/etc"):
        dirs += ["--ro-bind", d, d]
    return ["/usr/bin/bwrap", "--unshare-all", *dirs, "--proc", "/proc",
            "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", name,
            "/run/prog", *argv, "/run/prog"]


def variants(language, warm, plain, name):
    code = HELLO[language]
    ready = Server.request(language, code)
    cold_env = {"PYTHONDONTWRITEBYTECODE": "1"} if language == "python" else {}
    by_exec = Server.request(language, code, env=cold_env)
    rows = [("cold " + COLD[language][0].rsplit("/", 1)[1] + " file",
             lambda: spawn(COLD[language] + [name]))]
    if os.path.exists("/usr/bin/bwrap"):
        rows.append(("bubblewrap + " + language,
                     lambda: spawn(bwrap(COLD[language], name))))
    rows.append(("sandbox, fork + exec, HTTP",
                 lambda: check(plain.exchange(by_exec))))
    if language == "python":
        rows.append(("sandbox, zygote on demand, HTTP",
                     lambda: check(plain.exchange(ready))))
        rows.append(("sandbox, standby child, HTTP",
                     lambda: check(warm.exchange(ready))))
    return rows


def check(body):
    if b'"output":"2\\n"' not in body:
        raise SystemExit("wrong answer: %r" % body[:300])


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))]


def measure(rows, n):
    times = [[] for _ in rows]
    for i in range(n + 3):
        for t, (_, run) in zip(times, rows):
            # idle time in which standby children become ready
            time.sleep(0.004)
            start = time.perf_counter()
            run()
            if i >= 3:
                t.append(time.perf_counter() - start)
    return times


def latency(language, warm, plain, n):
    with tempfile.NamedTemporaryFile("w", suffix=".py" if language == "python"
                                     else ".js") as f:
        f.write(HELLO[language])
        f.flush()
        os.chmod(f.name, 0o644)
        rows = variants(language, warm, plain, f.name)
        times = measure(rows, n)
    base = statistics.median(times[0])
    return [{"case": name, "language": language,
             "median_ms": statistics.median(t) * 1000,
             "p99_ms": percentile(t, 0.99) * 1000,
             "ratio": statistics.median(t) / base}
            for (name, _), t in zip(rows, times)]


def imports(build, port, n):
    """What `import numpy` takes, imported once in the zygote or in each run."""
    code = "import numpy\nprint(1 + 1)\n"
    try:
        subprocess.run([*COLD["python"], "-c", "import numpy"], env=ENV,
                       check=True, capture_output=True)
    except subprocess.CalledProcessError:
        return None
    ahead = Server(build, port, "auto", "sandbox_preload python numpy;")
    plain = Server(build, port + 1, "auto")
    try:
        request = Server.request("python", code)
        rows = [("plain", lambda: check(plain.exchange(request))),
                ("preloaded", lambda: check(ahead.exchange(request))),
                ("hello", lambda: check(ahead.exchange(
                    Server.request("python", HELLO["python"]))))]
        times = [statistics.median(t) * 1000 for t in measure(rows, n)]
    finally:
        ahead.stop()
        plain.stop()
    return {"plain_ms": times[0], "preloaded_ms": times[1],
            "hello_ms": times[2], "ratio": times[1] / times[0]}


def cold_rate(n, width):
    """Cold starts a second, `width` at a time."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write(HELLO["python"])
        f.flush()
        start = time.perf_counter()
        procs = []
        for _ in range(n):
            procs.append(subprocess.Popen(["/usr/bin/python3", f.name],
                                          env=ENV,
                                          stdout=subprocess.DEVNULL))
            if len(procs) == width:
                procs.pop(0).wait()
        for p in procs:
            p.wait()
        return n / (time.perf_counter() - start)


def violation(warm, n):
    """From just before the violating allocation to the answer's last byte,
    and a hello in turn, for comparison."""
    request = Server.request("python", VIOLATION)
    hello = Server.request("python", HELLO["python"])
    times, hellos = [], []
    for i in range(n + 3):
        time.sleep(0.01)
        v = json.loads(warm.exchange(request))
        end = time.monotonic_ns()
        if v["status"] != "memory_exceeded":
            raise SystemExit("wrong answer: %r" % v)
        time.sleep(0.01)
        start = time.perf_counter()
        check(warm.exchange(hello))
        if i >= 3:
            times.append((end - int(v["output"])) / 1e6)
            hellos.append((time.perf_counter() - start) * 1000)
    return {"median_ms": statistics.median(times),
            "p99_ms": percentile(times, 0.99),
            "hello_p99_ms": percentile(hellos, 0.99)}


def policy_rate(plain, rounds, n):
    """The rate of a location with all hooks to that of one without."""
    ratios = []
    for i in range(rounds):
        paths = ["run", "policy"] if i % 2 else ["policy", "run"]
        rates = {p: http_rate(plain.port, n, 8, p) for p in paths}
        ratios.append(rates["policy"] / rates["run"])
    return statistics.median(ratios)


def http_rate(port, n, width, path="run"):
    body = json.dumps({"language": "python", "code": HELLO["python"]})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        f.write(body)
        f.flush()
        out = subprocess.run(
            ["/usr/bin/ab", "-q", "-k", "-n", str(n), "-c", str(width), "-p",
             f.name, "-T", "application/json",
             "http://127.0.0.1:%d/%s" % (port, path)],
            env=ENV, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit("ab saw answers that are no success:\n" + out)
    for line in out.splitlines():
        if line.startswith("Requests per second:"):
            return float(line.split()[3])
    raise SystemExit(out)


def sustained(plain, rounds, n):
    cold, ours = [], []
    for _ in range(rounds):
        cold.append(cold_rate(n // 4, 8))
        ours.append(http_rate(plain.port, n, 8))
    return {"cold_per_s": statistics.median(cold),
            "sandbox_per_s": statistics.median(ours),
            "ratio": statistics.median(ours) / statistics.median(cold)}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", type=os.path.abspath,
                   default=os.path.join(TOP, "build"))
    p.add_argument("--port", type=int, default=18990)
    p.add_argument("-n", type=int, default=200)
    p.add_argument("--json", action="store_true")
    args = p.parse_args()

    warm = Server(args.build, args.port, "auto")
    plain = Server(args.build, args.port + 1, "0")
    try:
        rows = latency("python", warm, plain, args.n)
        rows += latency("node", warm, plain, max(20, args.n // 5))
        rate = sustained(plain, 3, 400)
        violated = violation(warm, args.n)
        policy = policy_rate(plain, 9, 200)
    finally:
        warm.stop()
        plain.stop()

    numpy = imports(args.build, args.port + 2, max(20, args.n // 5))

    result = {"date": time.strftime("%Y-%m-%d"), "kernel": platform.release(),
              "cpus": os.cpu_count(), "load": os.getloadavg()[0],
              "rows": rows, "sustained": rate, "violation": violated,
              "policy_ratio": policy, "import_numpy": numpy}
    if args.json:
        json.dump(result, sys.stdout, indent=2)
        print()
        return
    print("%(date)s, Linux %(kernel)s, %(cpus)d processors, load %(load).1f\n"
          % result)
    print("| case | median ms | p99 ms | to cold start |")
    print("|---|---|---|---|")
    for r in rows:
        print("| %s (%s) | %.2f | %.2f | %s |" % (
            r["case"], r["language"], r["median_ms"], r["p99_ms"],
            "1" if r["ratio"] == 1 else "1/%.1f" % (1 / r["ratio"])
            if r["ratio"] < 1 else "%.2f" % r["ratio"]))
    print("\nsustained, pool drained, 8 at a time, Python: %.0f/s; cold starts "
          "%.0f/s; ratio %.1f" % (rate["sandbox_per_s"], rate["cold_per_s"],
                                  rate["ratio"]))
    print("violating allocation to answer: median %(median_ms).2f ms, p99 "
          "%(p99_ms).2f ms; p99 of a hello %(hello_p99_ms).2f ms" % violated)
    print("rate with a policy's three hooks to without: %.2f" % policy)
    if numpy:
        print("import numpy: %(plain_ms).1f ms, with sandbox_preload "
              "%(preloaded_ms).1f ms; a hello there %(hello_ms).1f ms; ratio "
              "%(ratio).3f" % numpy)


if __name__ == "__main__":
    main()
