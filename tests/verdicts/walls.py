"""Any single layer off: what still bounds memory?

Each program of attacks/ takes memory by 1 MiB and counts aloud: a number, or a
sign for each.  It ends when it is refused, and else stays: then only a wall can
end it before its time.  The table shows how far it came, and how it ended.
"""

import concurrent.futures
import os

import corpus
import servers

# What is off, and what then ends a process that goes on.
WALLS = ([], ['hook'], ['rlimits'], ['cgroup'],
         ['cgroup', 'root'], ['hook', 'cgroup', 'root'],
         ['rlimits', 'cgroup', 'root'])

ALLOWED = 64    # MiB
# threads' stacks come on top of a data limit
BOUND = 768
ENDS = ('memory_exceeded', 'disk_exceeded', 'error', 'signaled')


def reached(output):
    words = output.split()
    if words and words[0].startswith('+'):
        return len(words[0])
    numbers = [int(w) for w in words if w.isdigit()]
    return max(numbers, default=0)


def attack(server, program):
    client = server.client()
    try:
        verdict = client.ask(program)
    finally:
        client.close()
    mib = reached(verdict.get('output') or '')
    end = verdict['status']
    if verdict.get('reason'):
        end += ' ' + verdict['reason']
    wrong = None
    # the watermark looks every 50 ms, or later on a busy machine: it may be late
    if verdict['status'] not in ENDS or (
            mib >= BOUND and verdict.get('reason') != 'watermark'):
        wrong = 'took %d MiB, %s' % (mib, end)
    return wrong, '%5d MiB, %s' % (mib, end)


def run(args, tap):
    programs = corpus.load(directory=os.path.join(corpus.HERE, 'attacks'))
    rows = []
    for off in WALLS:
        if os.geteuid() != 0 and 'root' not in off:
            continue
        name = 'without ' + ', '.join(off) if off else 'all layers'
        server = servers.Supervisor(args, off)
        try:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                ends = pool.map(lambda p: attack(server, p), programs)
                for program, (wrong, text) in zip(programs, ends):
                    tap.say(wrong, 'bounded, %s: %s' % (name, program.file))
                    rows.append((name, program.file, text))
        finally:
            server.stop()
    print('#\n# %d MiB allowed; layer off, attack, how far it came' % ALLOWED)
    for row in rows:
        print('# %-32s %-14s %s' % row)

