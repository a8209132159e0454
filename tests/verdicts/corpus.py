"""The labelled programs, and what each of them must come to.

A program's first lines, in its language's comments, are its label:

    expect: STATUS [REASON] [exit=N] [signal=NAME] [| another end]
    without LAYER[, LAYER]: the same, where these layers are off
    limits: {"memory": "64m"}       what the request asks for
    mode: soft                      sandbox_memory_mode
    stdin, args, env, name: TEXT or JSON, as in the request
    file: NAME                      a binary of native/, beside the program
    output: TEXT                    all of the output; ends in \\n like print
    says: REGEX                     in the answer's error
    stderr: REGEX                   in its standard error
    violation: TYPE                 its violation_type
    source: NAME                    its usage's memory_source
    counts: LEAST MOST              the last number that it printed
    case: NUMBER...                 of cases.py
    row: NUMBER                     of DESIGN.md's table of verdicts
    weight: N                       how often beside others (default 10)

Layers are hook, cgroup and root (a supervisor of a normal user has no root).
Of several `without` lines that apply, the one with most layers decides.  A
reason or code that is not there may be any.
"""

import base64
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, 'programs')
LAYERS = ('hook', 'cgroup', 'root')
COMMENTS = {'.py': ('python', '#'), '.js': ('node', '//'),
            '.mjs': ('node', '//'), '.static': ('static', '#')}
KEYS = {'expect', 'limits', 'mode', 'stdin', 'args', 'env', 'name', 'file',
        'output', 'says', 'stderr', 'violation', 'source', 'counts', 'case',
        'row', 'weight'}
LABEL = r' (without [a-z, ]+|[a-z]+): (.*)$'


class End:
    """One way to end: what a verdict must have."""

    def __init__(self, text):
        words = text.split()
        self.text = text
        self.status = words.pop(0)
        self.wanted = {'status': self.status}
        for word in words:
            key, equals, value = word.partition('=')
            if not equals:
                self.wanted['reason'] = word
            elif key == 'exit':
                self.wanted['exit_code'] = int(value)
            elif key == 'signal':
                self.wanted['signal'] = value
            else:
                raise ValueError('no such expectation: ' + word)

    def matches(self, verdict):
        return all(verdict.get(k) == v for k, v in self.wanted.items())


def parse_ends(text):
    return [End(one.strip()) for one in text.split('|')]


class Program:
    def __init__(self, directory, file):
        self.file = file
        with open(os.path.join(directory, file)) as f:
            self.code = f.read()
        self.language, mark = COMMENTS[os.path.splitext(file)[1]]
        self.label = {}
        self.without = []
        for line in self.code.splitlines():
            found = re.match(mark + LABEL, line)
            if not found:
                break
            self.read_line(*found.groups())
        self.ends = parse_ends(self.label.get('expect', 'success'))
        self.weight = int(self.label.get('weight', 10))
        self.cases = self.label.get('case', '').split()
        self.soft = self.label.get('mode') == 'soft'
        self.files = []

    def read_line(self, key, value):
        if key.startswith('without '):
            layers = {w.strip() for w in key[len('without '):].split(',')}
            if not layers <= set(LAYERS):
                raise ValueError('%s: no such layers: %s' % (self.file, key))
            self.without.append((layers, parse_ends(value)))
        elif key in KEYS:
            self.label[key] = value
        else:
            raise ValueError('%s: no such key: %s' % (self.file, key))

    def ends_without(self, off):
        """The ends that are right where the layers `off` are off."""
        best, ends = set(), self.ends
        for layers, others in self.without:
            if layers <= set(off) and len(layers) >= len(best):
                best, ends = layers, others
        return ends

    def body(self):
        job = {'language': self.language, 'code': self.code}
        for key in ('limits', 'args', 'env'):
            if key in self.label:
                job[key] = json.loads(self.label[key])
        for key in ('stdin', 'name'):
            if key in self.label:
                job[key] = unescape(self.label[key])
        if self.files:
            job['files'] = self.files
        return json.dumps(job).encode()

    def add_file(self, directory):
        """Puts the compiled companion among the request's files."""
        if 'file' in self.label:
            with open(os.path.join(directory, self.label['file']), 'rb') as f:
                text = base64.b64encode(f.read()).decode()
            self.files = [{'path': self.label['file'], 'base64': text}]

    def complain(self, verdict, off=()):
        """What is wrong with a verdict, or None."""
        ends = self.ends_without(off)
        if not any(end.matches(verdict) for end in ends):
            return 'not ' + ' | '.join(end.text for end in ends)
        if ends is not self.ends:
            return None             # details are those of the full set
        return (self.complain_about_text(verdict)
                or 'hook' not in off and self.complain_about_hook(verdict)
                or None)

    def complain_about_text(self, verdict):
        label = self.label
        if 'output' in label and verdict['output'] != unescape(label['output']):
            return 'output %.80r' % verdict['output']
        for key, where in (('says', 'error'), ('stderr', 'stderr')):
            if key in label and not re.search(label[key],
                                              verdict[where] or ''):
                return '%s %.200r has no %s' % (where, verdict[where],
                                                label[key])
        return None

    def complain_about_hook(self, verdict):
        """What only the hook knows."""
        label = self.label
        if 'violation' in label:
            violation = verdict['violation'] or {}
            if violation.get('violation_type') != label['violation']:
                return 'violation %s' % violation
        source = verdict['usage']['memory_source']
        if label.get('source', source) != source:
            return 'memory_source %s' % source
        if 'counts' in label:
            least, most = map(int, label['counts'].split())
            last = int(verdict['output'].split()[-1])
            if not least <= last <= most:
                return 'counted to %d' % last
        return None


def unescape(text):
    return text.encode().decode('unicode_escape')


def load(names=(), directory=PROGRAMS):
    files = sorted(f for f in os.listdir(directory)
                   if os.path.splitext(f)[1] in COMMENTS)
    if names:
        files = [f for f in files if any(n in f for n in names)]
    return [Program(directory, f) for f in files]
