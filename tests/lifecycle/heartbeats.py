"""Heartbeats to a judge's front, through the turns of nginx's life.

Each worker's policy counts what it sends, so a second sender, or one that was
there before, shows by its numbers.
"""

import http.client
import json
import signal
import socket
import threading

from box import Failure, wait_for
from scenarios import same, scenario

POLICY = '''
local n = 0
return {
    heartbeat = function()
        n = n + 1
        return { headers = { ["X-Token"] = "t" },
                 body = { n = n, generation = config.generation } }
    end,
    heard = function(answer)
        if answer.body ~= "ok" then return "it says " .. answer.body end
    end,
}
'''

LOCATION = '''
location = /who { return 200 $pid; }
location = /run {
    sandbox any;
    sandbox_timeout 20s;
    sandbox_policy %s generation=%d;
    sandbox_heartbeat http://127.0.0.1:%d/beat?x=1 interval=200ms;
}
'''


class Front(threading.Thread):
    """Takes heartbeats.  What it says to them: a text, or nothing at all."""

    def __init__(self):
        super().__init__(daemon=True)
        self.port = 0
        self.saying = 'ok'
        self.beats = []         # (head, body as JSON)
        self.held = []          # connections without an answer
        self.listener = None
        self.open()
        self.start()

    def open(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(('127.0.0.1', self.port))
        listener.listen(16)
        self.port = listener.getsockname()[1]
        self.listener = listener

    def shut(self):
        listener, self.listener = self.listener, None
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()

    def run(self):
        while True:
            listener = wait_for('a listener', lambda: self.listener, 3600)
            try:
                connection = listener.accept()[0]
                self.serve(connection)
            except OSError:
                continue

    def serve(self, connection):
        text = b''
        while b'\r\n\r\n' not in text or text[-1:] != b'}':
            more = connection.recv(65536)
            if not more:
                return
            text += more
        head, body = text.split(b'\r\n\r\n', 1)
        self.beats.append((head.decode(), json.loads(body)))
        if self.saying is None:
            self.held.append(connection)
            return
        connection.sendall(b'HTTP/1.1 200 OK\r\n\r\n' + self.saying.encode())
        connection.close()

    def more(self, n=3):
        """The next n beats, from now on."""
        seen = len(self.beats)
        wait_for('%d heartbeats' % n, lambda: len(self.beats) >= seen + n)
        return [body for _, body in self.beats[seen:seen + n]]


def consecutive(what, beats):
    numbers = [beat['n'] for beat in beats]
    same(what, list(range(numbers[0], numbers[0] + len(numbers))), numbers)


def run_in(box, pid, seconds):
    """A run that the worker of this number waits for; (thread, answers)."""
    def connect():
        c = http.client.HTTPConnection('127.0.0.1', box.port, timeout=60)
        c.request('GET', '/who')
        if int(c.getresponse().read()) == pid:
            return c
        c.close()
        return None

    connection = wait_for('a connection to the worker', connect)
    answers = []

    def run():
        connection.request(
            'POST', '/run', json.dumps({
                'language': 'python',
                'code': 'import time\ntime.sleep(%g)\n' % seconds}),
            {'Content-Type': 'application/json'})
        answers.append(json.loads(connection.getresponse().read()))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    wait_for('the run', lambda: box.metric('sandbox_slots_busy') == 1)
    return thread, answers


def configure(box, front, generation):
    box.configure(sandbox=LOCATION % (box.path('p.lua'), generation,
                                      front.port))


@scenario
def heartbeat(box):
    """heartbeats: one worker's; backend away and back; reload; kill; QUIT"""
    with open(box.path('p.lua'), 'w') as f:
        f.write(POLICY)
    front = Front()
    box.start(sandbox=LOCATION % (box.path('p.lua'), 1, front.port))

    beats = front.more()
    consecutive('one sender', beats)
    head = front.beats[0][0].split('\r\n')
    same('head', ['POST /beat?x=1 HTTP/1.0', 'Host: 127.0.0.1:%d' % front.port,
                  'Connection: close'], head[:3])
    same('token', True, 'X-Token: t' in head)

    # the front goes, comes back in several bad moods, and is well again
    front.shut()
    wait_for('a line', lambda: 'fail: cannot connect' in box.log())
    before = front.beats[-1][1]['n']
    front.saying = 'no'
    front.open()
    same('sent meanwhile', True, front.more()[0]['n'] > before + 1)
    front.saying = None
    front.more()
    same('lines of failure', 1, box.log().count('heartbeats to "http'
                                                '://127.0.0.1:%d/beat?x=1" '
                                                'fail' % front.port))
    front.saying = 'ok'
    wait_for('a line', lambda: box.log().count('are taken') == 2)
    front.saying = 'no'
    wait_for('another', lambda: 'fail: it says no' in box.log())
    front.saying = 'ok'
    consecutive('one sender still', front.more())

    # the old worker has a run to wait for, and is silent
    sender = min(p.pid for p in box.workers())
    run, answers = run_in(box, sender, 4)
    configure(box, front, 2)
    box.signal(signal.SIGHUP)
    wait_for('the new generation',
             lambda: front.beats[-1][1]['generation'] == '2')
    front.more(2)
    beats = front.more(5)
    same('generations', ['2'] * 5, [b['generation'] for b in beats])
    consecutive('one sender after a reload', beats)
    if sender not in [p.pid for p in box.workers()]:
        raise Failure('the old sender has ended')
    run.join(30)
    same('its run', ['success'], [a['status'] for a in answers])

    # whoever takes the first worker's place begins at 1
    seen = len(front.beats)
    for worker in box.workers():
        if 'shutting down' not in ' '.join(worker.args):
            box.kill(worker)
    wait_for('a new sender', lambda: any(b['n'] == 1
                                         for _, b in front.beats[seen:]))
    consecutive('one sender after a kill', front.more())

    # one that is under way keeps no worker
    front.saying = None
    front.held.clear()
    front.more(1)
    box.quit()


@scenario
def heartbeat_alone(box):
    """heartbeats of a single process, and the end of it"""
    with open(box.path('p.lua'), 'w') as f:
        f.write(POLICY)
    front = Front()
    box.start(master=False, sandbox=LOCATION % (box.path('p.lua'), 1,
                                                front.port))
    consecutive('one sender', front.more())
    box.quit()
