#!/usr/bin/python3
"""A thin client: one class, the standard library alone.

    sandbox = Sandbox(mem_limit_mb=100)
    verdict = sandbox.run('task.py', timeout=5)
    print(verdict['status'], verdict['output'])

As a command it runs one script and prints its verdict, as JSON.
"""

import json
import os
import sys
import urllib.error
import urllib.request

LANGUAGES = {'.py': 'python', '.js': 'node', '.mjs': 'node'}


class Sandbox:
    def __init__(self, mem_limit_mb=100, url='http://127.0.0.1:8080/run'):
        self.mem_limit_mb, self.url = mem_limit_mb, url

    def run(self, script, timeout=5, language=None, stdin=''):
        """The verdict of a file; timeout in seconds.

        Raises OSError if there is no answer at all, or one that is none of
        the sandbox's, such as nginx's own page for a path that it has not.
        """
        name = os.path.basename(script)
        language = language or LANGUAGES.get(os.path.splitext(name)[1],
                                             'python')
        with open(script, encoding='utf-8') as f:
            code = f.read()
        milliseconds = int(timeout * 1000)
        body = {'language': language, 'code': code, 'name': name,
                'stdin': stdin, 'limits': {
                    'memory': self.mem_limit_mb << 20,
                    'timeout': milliseconds, 'cpu_time': milliseconds}}
        request = urllib.request.Request(
            self.url, json.dumps(body).encode(),
            {'Content-Type': 'application/json'})
        try:
            # whoever waits for a slot waits longer than the program may run
            with urllib.request.urlopen(request, timeout=timeout + 60) as r:
                return json.load(r)
        except urllib.error.HTTPError as answer:
            # busy, invalid and the like are verdicts, too
            try:
                return json.load(answer)
            except ValueError:
                raise OSError('%s: HTTP %d, and no verdict'
                              % (self.url, answer.code)) from None


def main():
    if len(sys.argv) != 2:
        print('usage: deer_flow.py SCRIPT', file=sys.stderr)
        return 2
    url = os.environ.get('DEER_FLOW_URL', 'http://127.0.0.1:8080/run')
    try:
        verdict = Sandbox(url=url).run(sys.argv[1])
    except OSError as e:
        sys.exit('deer_flow.py: %s' % e)
    print(json.dumps(verdict, indent=2))
    return 0 if verdict['status'] == 'success' else 1


if __name__ == '__main__':
    sys.exit(main())
