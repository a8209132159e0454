"""Batches whose surroundings change while they run: the client, the queue, the
suite's files.
"""

import os
import threading

from cases import MARK, case
from nginx import (LIMIT, NAMED, SCALE, Failure, body_of, named, same,
                   wait_for)

# each case of it sleeps, then says what it was given
SLOW = NAMED % ('%s', 0.3) + 'print(input())\n'


def batch(code, n, **more):
    return body_of(code, cases=[{'stdin': '%d\n' % i} for i in range(n)],
                   **more)


def send(site, body):
    """In a thread; returns it and the list its answer goes into."""
    answers = []

    def run():
        client = site.client()
        answers.append(client.send('POST', '/run', body))
        client.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, answers


def finish(thread, answers):
    thread.join(2 * LIMIT * SCALE)
    if not answers:
        raise Failure('a batch hangs')
    return answers[0]


def idle(site):
    return (site.metric('sandbox_slots_busy') == 0
            and site.metric('sandbox_queue') == 0)


@case
def batch_large(site):
    """a large job is one for all cases: each has its own copy to write to"""
    site.start('sandbox_slots 4; sandbox_runtime started /usr/bin/python3;',
               'client_max_body_size 16m;')
    code = ('with open("large", "r+b") as f:\n'
            '    print(f.read(1))\n'
            '    f.seek(0)\n'
            '    f.write(input().encode())\n'
            '    print(f.seek(0, 2))\n')
    for language in 'python', 'started':
        body = batch(code, 12, language=language, limits={'disk': '8m'}, files=[
            {'path': 'large', 'content': 'a' * (3 << 20)}])
        answer = site.client().send('POST', '/run', body)
        same('outputs of ' + language, ["b'a'\n3145728\n"] * 12,
             [case['output'] for case in answer.verdict['cases']])


@case
def batch_lost(site):
    """a client that goes away in a batch: its runs end, its slots are free"""
    site.start('sandbox_slots 2; sandbox_standby 0; sandbox_queue 50;')
    name = MARK + 'lost'
    for n in range(3):
        body = batch(NAMED % (name, 60), 40, limits={'output': '64k'})
        sock = site.socket()
        sock.sendall(site.head(len(body)) + body)
        wait_for('cases run', lambda: named(name) >= 1)
        sock.close()
        wait_for('no case is left', lambda: named(name) == 0, 5)
        wait_for('no slot is busy', lambda: idle(site), 5)
    site.run('print(3)').expect('3\n')


@case
def batch_beside_full_queue(site):
    """queue full in a batch: others are busy, its own cases wait and run"""
    site.start('sandbox_slots 1; sandbox_standby 0; sandbox_queue 1;')
    name = MARK + 'full'
    first = send(site, batch(SLOW % name, 8))
    wait_for('the batch runs', lambda: named(name) >= 1)
    second = send(site, body_of(NAMED % (name, 0.1)))
    wait_for('the queue is full', lambda: site.run('print("third")').said()
             == '503 busy')
    same('a batch of which nothing ran', '503 busy',
         finish(*send(site, batch('print(1)', 3))).said())

    verdict = finish(*first).verdict
    same('its cases', ['success'] * 8,
         [c['status'] for c in verdict['cases']])
    same('their output', ['slept\n%d\n' % i for i in range(8)],
         [c['output'] for c in verdict['cases']])
    same('who came second', True, finish(*second).said()
         in ('200 success', '503 busy'))
    # counted when the answer is out
    name = 'sandbox_requests_total{language="python",status="success"}'
    wait_for('7 runs beyond requests',
             lambda: site.runs('success') - site.metric(name) == 7)


@case
def suite_changes(site):
    """a suite's file that changes in a batch counts; one that goes ends it"""
    suite = site.path('suites/s')
    count = os.cpu_count() + 4
    os.makedirs(suite)

    def write(i, text):
        # as an editor does it: another file takes the name
        with open(os.path.join(suite, 'new'), 'w') as f:
            f.write(text)
        os.rename(os.path.join(suite, 'new'),
                  os.path.join(suite, '%d.in' % i))

    for i in range(1, count + 1):
        write(i, 'old %d\n' % i)

    site.start('sandbox_slots 1; sandbox_standby 0;',
               'sandbox_cases %s;' % site.path('suites'))
    name = MARK + 'suite'
    body = body_of(SLOW % name, cases_from='s')

    running = send(site, body)
    wait_for('the first case runs', lambda: named(name) == 1)
    write(count, 'new\n')
    cases = finish(*running).expect(said='200 success')['cases']
    same('what each was given',
         ['slept\nold %d\n' % i for i in range(1, count)] + ['slept\nnew\n'],
         [c['output'] for c in cases])

    running = send(site, body)
    wait_for('the first case runs', lambda: named(name) == 1)
    os.unlink(os.path.join(suite, '%d.in' % count))
    verdict = finish(*running).expect(said='500 internal_error')
    same('the reason', 'cases: file "%d.in": No such file or directory' % count,
         verdict['error'])
    wait_for('no case is left', lambda: named(name) == 0 and idle(site), 5)
    site.run('print(4)').expect('4\n')
