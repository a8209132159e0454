#!/usr/bin/python3
"""The page at `/`, as a person uses it, in headless Chromium.  Prints TAP.

    run.py --url http://127.0.0.1:8080/ [--shots DIRECTORY]

Speaks the W3C WebDriver protocol to chromedriver itself: no library.  The
server at the URL is the real one: programs are typed, run and judged.
"""

import argparse
import base64
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

CHROMIUM = "/usr/bin/chromium"
CHROMEDRIVER = "/usr/bin/chromedriver"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
CONTROL, ENTER, RELEASE = "\ue009", "\ue007", "\ue000"
WAIT_S = 60

checks = failures = 0


def check(ok, name, *notes):
    global checks, failures
    checks += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {checks} - {name}")
    for note in notes if not ok else ():
        print("#", str(note)[:800].replace("\n", "\n# "))
    sys.stdout.flush()


class Browser:
    """One chromedriver with one session; `with` ends both."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="page-test-")
        self.driver = None

    def __enter__(self):
        env = {"PATH": "/usr/bin:/bin", "HOME": self.profile,
               "LANG": "C.UTF-8", "TMPDIR": self.profile}
        try:
            self.driver = subprocess.Popen(
                [CHROMEDRIVER, "--port=0"], stdout=subprocess.PIPE, text=True,
                stderr=subprocess.STDOUT, env=env, cwd=self.profile)
            self.port = self.read_port()
            self.session = self.call("POST", "/session", {"capabilities": {
                "alwaysMatch": {"browserName": "chrome",
                                "goog:chromeOptions": self.options()}}},
                whole=True)["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def options(self):
        args = ["--headless", "--disable-gpu", "--disable-quic",
                "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--window-size=1280,900",
                "--user-data-dir=" + os.path.join(self.profile, "user")]
        if os.getuid() == 0:
            args.append("--no-sandbox")
        return {"binary": CHROMIUM, "args": args}

    def read_port(self):
        for line in self.driver.stdout:
            word = line.rsplit(" ", 1)[-1].strip().rstrip(".")
            if "started successfully" in line and word.isdigit():
                return int(word)
        raise SystemExit("Bail out! chromedriver did not start")

    def __exit__(self, *_):
        try:
            if hasattr(self, "session"):
                self.call("DELETE", "")
        finally:
            if self.driver is not None:
                self.driver.terminate()
                self.driver.wait(20)
            shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None, whole=False):
        if not whole:
            path = f"/session/{self.session}{path}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=WAIT_S)
        data = None if method == "DELETE" else json.dumps(body or {})
        connection.request(method, path, data if method == "POST" else None,
                           {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(f"{path}: {answer['error']}:"
                               f" {answer['message']}")
        return answer

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def script(self, text, *args):
        return self.call("POST", "/execute/sync",
                         {"script": text, "args": list(args)})

    def cdp(self, command, **params):
        self.call("POST", "/goog/cdp/execute",
                  {"cmd": command, "params": params})

    def find(self, css):
        return self.call("POST", "/element", {
            "using": "css selector", "value": css})[ELEMENT]

    def clear(self, css):
        self.call("POST", f"/element/{self.find(css)}/clear")

    def keys(self, css, text):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": text})

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click")

    def text(self, css):
        return self.script("return document.querySelector(arguments[0])"
                           "?.textContent ?? null", css)

    def wait_status(self):
        """The verdict's word once the run is over."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            status = self.text("#status")
            if status not in ("ready", "running"):
                return status
            time.sleep(0.02)
        return self.text("#status")

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", "/screenshot")))


def type_program(browser, code, language="python", stdin="", **limits):
    browser.click(f"#language option[value={language}]")
    for field, text in (("#code", code), ("#stdin", stdin)):
        browser.clear(field)
        if text:
            browser.keys(field, text)
    for key in ("memory", "timeout", "cpu_time", "output", "processes"):
        browser.clear("#limit-" + key)
        if key in limits:
            browser.keys("#limit-" + key, limits[key])


def run_program(browser, code, **options):
    type_program(browser, code, **options)
    browser.click("#run")
    return browser.wait_status()


# What is typed; the page indents the line after a colon or a brace itself.
VERDICTS = [    # name, program, options, status, return code, words in output
    ("Python", "print(6*7)", {}, "success", "0", "42\n"),
    ("Node.js", "console.log(6*7)", {"language": "node"}, "success", "0",
     "42\n"),
    ("input", "print(input()[::-1])", {"stdin": "abc"}, "success", "0",
     "cba\n"),
    ("markup stays text", "print('<b id=x>bold</b><img src=x>')", {},
     "success", "0", "<b id=x>bold</b><img src=x>\n"),
    ("exit code", "raise SystemExit(3)", {}, "error", "3", ""),
    ("exception", "print('before')\n1/0", {}, "error", "1", "before\n"),
    ("endless loop", "while True:\npass", {"timeout": "500ms"}, "timeout",
     "143", ""),
    ("endless loop in Node.js", "for (;;) {}",
     {"language": "node", "timeout": "500ms"}, "timeout", "143", ""),
    ("too much memory", "x = b'x' * 10**9", {}, "memory_exceeded", "128", ""),
    ("memory limit", "x = b'x' * 10**8", {"memory": "64m"},
     "memory_exceeded", "128", ""),
]


def verdicts(browser):
    for name, code, options, status, returncode, output in VERDICTS:
        got = run_program(browser, code, **options)
        shown = browser.text("#returncode"), browser.text("#output")
        check(got == status and shown == (returncode, output),
              f"{name}: {status}, {returncode}", got, shown,
              browser.text("#summary"), browser.text("#raw"))

    check(browser.script("return document.querySelector('#x')") is None,
          "output never becomes markup")


def details(browser):
    run_program(browser, "import sys\nprint(1)\nsys.stderr.write('oops')")
    raw = json.loads(browser.text("#raw"))
    check(browser.text("#stderr") == "oops" and raw["stderr"] == "oops",
          "standard error and the raw answer")
    check("ms" in browser.text("#usage") and browser.text("#in-force"),
          "usage and limits", browser.text("#usage"))
    check(browser.script("return document.querySelector('#violation-block')"
                         ".hidden"), "no violation, no block for it")

    run_program(browser, "x = b'x' * 10**9")
    check("bytes" in browser.text("#violation"), "a violation is shown",
          browser.text("#raw"))

    run_program(browser, "print('x' * 3000)", output="1000")
    check(browser.text("#output-note") != "", "cut output says so",
          browser.text("#raw"))


def keyboard(browser):
    type_program(browser, "print('by key')")
    browser.keys("#code", CONTROL + ENTER + RELEASE)
    check(browser.wait_status() == "success"
          and browser.text("#output") == "by key\n", "Ctrl+Enter runs")

    browser.clear("#code")
    browser.keys("#code", "if 1:\nfor i in 1, 2:\nprint(i)")
    check(browser.script("return document.querySelector('#code').value")
          == "if 1:\n    for i in 1, 2:\n        print(i)",
          "the next line is indented")

    bare = browser.script(
        "return [...document.querySelectorAll('input, select, textarea')]"
        ".filter((e) => e.labels.length === 0).map((e) => e.id)")
    check(bare == [], "every field has a label", bare)
    check(browser.script("const v = document.querySelector('#verdict');"
                         "return [v.role, v.ariaLive]")
          == ["status", "polite"], "the verdict is announced")


def refusals(browser):
    got = run_program(browser, "print(1)", memory="9g")
    check(got == "invalid" and "memory" in browser.text("#summary"),
          "a limit above the ceiling: what the server says", got,
          browser.text("#summary"))

    got = run_program(browser, "print(1)", memory="lots")
    check(got == "invalid", "a limit that is none", got,
          browser.text("#summary"))

    # 17 MB in the field itself would take the browser a minute to lay out
    browser.script("const send = window.fetch; window.fetch = (to, what) => {"
                   " window.fetch = send; return send(to, { ...what,"
                   " body: what.body + ' '.repeat(17 << 20) }); }")
    got = run_program(browser, "pass")
    check(got == "HTTP 413" and browser.text("#summary"),
          "too large: 413 in words", got, browser.text("#summary"))

    type_program(browser, "while True:\npass", timeout="9s")
    browser.click("#run")
    browser.click("#cancel")
    got = browser.wait_status()
    check(got == "cancelled" and browser.script(
        "return !document.querySelector('#run').disabled"),
        "cancel ends the wait", got)

    type_program(browser, "print(1)")
    browser.cdp("Network.enable")
    browser.cdp("Network.emulateNetworkConditions", offline=True, latency=0,
                downloadThroughput=-1, uploadThroughput=-1)
    browser.click("#run")
    got = browser.wait_status()
    browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0,
                downloadThroughput=-1, uploadThroughput=-1)
    check(got == "no answer", "no network: said so", got)
    check(run_program(browser, "print(2)") == "success", "and on it goes")


def layout(browser, shots):
    run_program(browser, "print('\\n'.join('a line of output' for _ in"
                " range(5)))")

    for width, scheme in ((1280, "light"), (1280, "dark"), (360, "light"),
                          (360, "dark")):
        browser.cdp("Emulation.setDeviceMetricsOverride", width=width,
                    height=900, deviceScaleFactor=1, mobile=width < 500)
        browser.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        wide = browser.script("return document.documentElement.scrollWidth")
        check(wide <= width, f"{width} px, {scheme}: nothing sticks out",
              wide)
        if shots:
            browser.shot(os.path.join(shots, f"{width}-{scheme}.png"))

    check(browser.script(
        "return performance.getEntriesByType('resource').map((e) => e.name)"
        ".filter((n) => !n.startsWith(location.origin))") == [],
        "nothing is loaded from elsewhere")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8080/")
    parser.add_argument("--shots", help="where to put screenshots")
    options = parser.parse_args()

    started = time.monotonic()
    with Browser() as browser:
        browser.open(options.url)
        for part in (verdicts, details, keyboard, refusals):
            part(browser)
        layout(browser, options.shots)

    print(f"1..{checks}")
    print(f"# {failures} failed, {time.monotonic() - started:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
