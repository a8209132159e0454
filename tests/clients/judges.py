#!/usr/bin/python3
"""Clients of judges, against the façades' examples as they are.  Prints TAP.

    judges.py --module FILE --nginx FILE --work DIRECTORY

Starts an nginx with examples/facades/judgeserver.conf and judge0.conf, then
runs judgeserver.py (Debian's requests) and judge0.js (npm's superagent, fetched
once, into DIRECTORY).  A stand-in for OnlineJudge takes the heartbeats.
"""

import argparse
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PORTS = {"judge0": 19488, "judgeserver": 19489}
FRONT = 19487
CLIENT, VERSION = "superagent", "10.4.2"

CONF = """
load_module {module};
{user}
worker_processes 1;
pid logs/nginx.pid;
error_log logs/error.log notice;
events {{ }}
http {{
    access_log off;
    client_body_temp_path temp/body;
    proxy_temp_path temp/proxy;
    fastcgi_temp_path temp/fastcgi;
    uwsgi_temp_path temp/uwsgi;
    scgi_temp_path temp/scgi;
    {servers}
}}
"""


def example(name, cases):
    """With the paths of this tree."""
    text = (ROOT / "examples/facades" / f"{name}.conf").read_text()
    text = text.replace(" lua/", f" {ROOT}/lua/")
    text = re.sub(r"sandbox_cases \S+;", f"sandbox_cases {cases};", text)
    text = text.replace("http://127.0.0.1:80/", f"http://127.0.0.1:{FRONT}/")
    return f"server {{ listen 127.0.0.1:{PORTS[name]}; {text} }}"


class Front(http.server.BaseHTTPRequestHandler):
    """As OnlineJudge takes a heartbeat: a token, and what it reads of it."""

    heard = threading.Event()
    wrong = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        error = self.mistake(body)
        if error:
            self.wrong.append(f"{error}: {self.path} {self.headers} {body}")
        answer = json.dumps({"error": error and "error", "data": error})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(answer.encode())
        self.heard.set()

    def mistake(self, body):
        token = hashlib.sha256(b"TOKEN").hexdigest()
        if self.path != "/api/judge_server_heartbeat/":
            return "Not found"
        if self.headers["X-Judge-Server-Token"] != token:
            return "Invalid token"
        wanted = {"hostname": str, "judger_version": str, "cpu_core": int,
                  "memory": (int, float), "cpu": (int, float),
                  "action": str, "service_url": str}
        data = json.loads(body)
        if set(data) != set(wanted) or data["action"] != "heartbeat":
            return "Invalid action"
        if not all(isinstance(data[key], kind) for key, kind in wanted.items()):
            return "Invalid type"
        return None

    def log_message(self, *_):
        pass


def check_heartbeat(count):
    """One arrives as soon as nginx is there."""
    ok = Front.heard.wait(30) and not Front.wrong
    print(f"{'ok' if ok else 'not ok'} {count} - heartbeat of the example")
    for why in Front.wrong:
        print("#", why.replace("\n", " "))
    sys.stdout.flush()
    return not ok


@contextlib.contextmanager
def serve(module, nginx):
    with tempfile.TemporaryDirectory(prefix="clients.") as where:
        where = pathlib.Path(where)
        for name in ("logs", "temp", "cases"):
            (where / name).mkdir()
        (where / "nginx.conf").write_text(CONF.format(
            module=module, user="user root;" if os.geteuid() == 0 else "",
            servers="\n".join(example(name, where / "cases")
                              for name in PORTS)))
        server = subprocess.Popen(
            [nginx, "-p", f"{where}/", "-c", "nginx.conf", "-g",
             "daemon off;"])
        try:
            wait_for(server)
            yield
        finally:
            server.terminate()
            server.wait(timeout=60)


def wait_for(server):
    """Until it answers, with whatever status."""
    for _ in range(600):
        try:
            urllib.request.urlopen(
                f"http://127.0.0.1:{PORTS['judge0']}/about", timeout=10)
            return
        except urllib.error.URLError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    raise SystemExit("nginx does not answer")


def install(work):
    """Into work/node_modules; kept there for the next time."""
    about = work / "node_modules" / CLIENT / "package.json"
    if about.exists() and json.loads(about.read_text())["version"] == VERSION:
        return
    work.mkdir(parents=True, exist_ok=True)
    # without it, npm would look for a project further up
    (work / "package.json").write_text('{ "private": true }\n')
    # the user's own environment: proxies, certificates, another registry
    subprocess.run(
        ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent",
         "--no-package-lock", "--ignore-scripts", "--cache", ".npm",
         f"{CLIENT}@{VERSION}"], cwd=work, check=True, timeout=300)


def run(name, command, env, count):
    """Its lines, numbered on; returns how many there were and failed."""
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True,
                          timeout=600)
    lines = re.findall(r"^(ok|not ok) \d+ - (.*)$", done.stdout, re.M)
    if not lines or not f"1..{len(lines)}\n" in done.stdout:
        lines.append(("not ok", "all of its tests are there"))
    for ok, what in lines:
        count += 1
        print(f"{ok} {count} - {name}: {what}")
    sys.stdout.flush()
    return count, sum(ok != "ok" for ok, _ in lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", required=True)
    parser.add_argument("--nginx", required=True)
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    work = pathlib.Path(options.work).resolve() / CLIENT
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
           "NODE_PATH": str(work / "node_modules")}
    url = "http://127.0.0.1:%d"

    install(work)
    front = http.server.ThreadingHTTPServer(("127.0.0.1", FRONT), Front)
    threading.Thread(target=front.serve_forever, daemon=True).start()

    with serve(pathlib.Path(options.module).resolve(), options.nginx):
        count, failed = run("requests", [
            sys.executable, "-B", str(HERE / "judgeserver.py"), "--url",
            url % PORTS["judgeserver"]], env, 0)
        count += 1
        failed += check_heartbeat(count)
        count, more = run("superagent", [
            "node", str(HERE / "judge0.js"), url % PORTS["judge0"]], env,
            count)

    print(f"1..{count}")
    return 1 if failed + more else 0


if __name__ == "__main__":
    sys.exit(main())
