"""QingdaoU's requests, as its OnlineJudge sends them, by Debian's requests.

judgeserver.py --url http://HOST:PORT [--token TOKEN]
"""

import argparse
import hashlib
import sys

import requests

PYTHON = {
    "compile": {
        "src_name": "solution.py",
        "exe_name": "__pycache__/solution.cpython-36.pyc",
        "max_cpu_time": 3000,
        "max_real_time": 10000,
        "max_memory": 128 << 20,
        "compile_command": "/usr/bin/python3 -m py_compile {src_path}",
    },
    "run": {
        "command": "/usr/bin/python3 -BS {exe_path}",
        "seccomp_rule": "general",
        "env": ["PYTHONIOENCODING=utf-8", "LANG=en_US.UTF-8",
                "LANGUAGE=en_US:en", "LC_ALL=en_US.UTF-8"],
    },
}

NODE = {
    "run": {
        "exe_name": "solution.js",
        "command": "/usr/bin/node {exe_path}",
        "seccomp_rule": "",
        "env": ["NO_COLOR=true", "LANG=en_US.UTF-8", "LANGUAGE=en_US:en",
                "LC_ALL=en_US.UTF-8"],
        "memory_limit_check_only": 1,
    },
}

SUM_PYTHON = "a, b = map(int, input().split(' '))\nprint(a + b)\n"
SUM_NODE = """
const rl = require('readline').createInterface({ input: process.stdin });
rl.on('line', (line) => {
    if (line === '') {
        return rl.close();
    }
    const [a, b] = line.split(' ').map(Number);
    console.log(a + b);
});
"""
CASES = [{"input": "1 2\n", "output": "3\n"}, {"input": "1 4\n", "output": "3"}]


class Client:
    def __init__(self, url, token):
        self.url = url.rstrip("/")
        self.headers = {
            "X-Judge-Server-Token": hashlib.sha256(token.encode()).hexdigest(),
            "Content-Type": "application/json",
        }

    def post(self, path, **data):
        """Without data there is no body, as from the judge."""
        more = {"json": data} if data else {}
        answer = requests.post(self.url + path, headers=self.headers,
                               timeout=60, **more)
        assert answer.status_code == 200, answer.status_code
        return answer.json()

    def judge(self, src, language_config, **more):
        data = dict(src=src, language_config=language_config,
                    max_cpu_time=5000, max_memory=256 << 20,
                    test_case_id=None, test_case=CASES, spj_version=None,
                    spj_config=None, spj_compile_config=None, spj_src=None,
                    output=True)
        data.update(more)
        return self.post("/judge", **data)


def results(answer):
    assert answer["err"] is None, answer
    return [(case["test_case"], case["result"]) for case in answer["data"]]


def test_ping(client):
    data = client.post("/ping")["data"]
    assert data["action"] == "pong"
    assert set(data) == {"action", "cpu", "cpu_core", "hostname", "memory",
                         "judger_version"}


def test_python(client):
    answer = client.judge(SUM_PYTHON, PYTHON)
    assert results(answer) == [("1", 0), ("2", -1)], answer
    first = answer["data"][0]
    assert first["output"] == "3\n"
    assert first["output_md5"] == hashlib.md5(b"3").hexdigest()
    assert set(first) == {"cpu_time", "real_time", "memory", "signal",
                          "exit_code", "error", "result", "test_case",
                          "output_md5", "output"}


def test_node(client):
    answer = client.judge(SUM_NODE, NODE, output=False)
    assert results(answer) == [("1", 0), ("2", -1)], answer
    assert answer["data"][0]["output"] is None


def test_runtime_error(client):
    case = client.judge("1/0", PYTHON)["data"][1]
    assert (case["result"], case["exit_code"], case["signal"]) == (4, 1, 0)


def test_compile_error(client):
    answer = client.judge("print(", PYTHON)
    assert answer["err"] == "CompileError", answer
    assert "SyntaxError" in answer["data"]


def test_unicode(client):
    text = "\u20ac\U0001f600"
    answer = client.judge("print(input()[::-1])", PYTHON,
                          test_case=[{"input": text, "output": text[::-1]}])
    assert results(answer) == [("1", 0)], answer


def test_wrong_token(client):
    other = Client(client.url, "another")
    assert other.post("/ping")["err"] == "TokenVerificationFailed"


def test_no_cases(client):
    answer = client.judge(SUM_PYTHON, PYTHON, test_case=None)
    assert answer == {"err": "JudgeClientError", "data": "invalid parameter"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", default="TOKEN")
    options = parser.parse_args()
    client = Client(options.url, options.token)
    tests = [(name, test) for name, test in globals().items()
             if name.startswith("test_")]
    failed = 0

    print("1..%d" % len(tests))

    for i, (name, test) in enumerate(tests, 1):
        try:
            test(client)
            print("ok %d - %s" % (i, name))
        except (AssertionError, LookupError, ValueError,
                requests.RequestException) as error:
            failed += 1
            print("not ok %d - %s: %r" % (i, name, error))

    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
