"""Clients that run one small program after the other, until they are told to stop."""

import http.client
import json
import threading

# What the children of one zygote share, and those of another have not.
PROGRAM = 'print(hash("a"), id(object()))'


class Traffic:
    """What was answered otherwise, and the secrets and addresses that were seen."""

    def __init__(self, box, clients):
        self.box = box
        self.failures, self.secrets, self.addresses = [], set(), set()
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.send)
                        for _ in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def send(self):
        c = http.client.HTTPConnection('127.0.0.1', self.box.port, timeout=30)
        body = json.dumps({'language': 'python', 'code': PROGRAM})
        try:
            while not self.over.is_set():
                c.request('POST', '/run', body,
                          {'Content-Type': 'application/json'})
                response = c.getresponse()
                self.note(response.status, response.read())
        except Exception as e:
            self.failures.append(repr(e))
        finally:
            c.close()

    def note(self, status, text):
        answer = json.loads(text)
        if status != 200 or answer['status'] != 'success':
            self.failures.append((status, answer))
            return
        secret, address = answer['output'].split()
        self.secrets.add(secret)
        self.addresses.add(int(address) >> 24)
