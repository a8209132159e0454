"""Any single layer off: what still bounds memory?

Each program of attacks/ takes memory by 1 MiB and counts aloud: a number, or a
sign for each.  The table shows how far it came, and how it ended.
"""

import os

import corpus
import site_of_tests as site

# What is off, and what then ends a process that goes on.
WALLS = ([], ['hook'], ['rlimits'], ['cgroup'],
         ['cgroup', 'root'], ['hook', 'cgroup', 'root'],
         ['rlimits', 'cgroup', 'root'])

GOAL = 2048     # MiB that an attack would take
# The watermark looks every 50 ms: late by what fits in, on a busy machine more.
BOUND = 1024


def reached(output):
    words = output.split()
    if words and words[0].startswith('+'):
        return len(words[0])
    numbers = [int(w) for w in words if w.isdigit()]
    return max(numbers, default=0)


def attack(client, program):
    verdict = client.ask(program)
    mib = reached(verdict.get('output') or '')
    end = verdict['status']
    if verdict.get('reason'):
        end += ' ' + verdict['reason']
    wrong = None
    if mib >= BOUND:
        wrong = 'took %d MiB of %d' % (mib, GOAL)
    elif verdict['status'] not in ('memory_exceeded', 'error', 'signaled',
                                   'success', 'disk_exceeded'):
        wrong = 'ended by %s' % end
    return wrong, '%5d MiB, %s' % (mib, end)


def run(args, tap):
    programs = corpus.load(directory=os.path.join(corpus.HERE, 'attacks'))
    rows = []
    for off in WALLS:
        if os.geteuid() != 0 and 'root' not in off:
            continue
        name = 'without ' + ', '.join(off) if off else 'all layers'
        server = site.Supervisor(args, off)
        try:
            client = server.client()
            for program in programs:
                wrong, text = attack(client, program)
                tap.say(wrong, 'bounded, %s: %s' % (name, program.file))
                rows.append((name, program.file, text))
            client.close()
        finally:
            server.stop()
    print('#\n# 64 MiB allowed; layer off, attack, how far it came')
    for row in rows:
        print('# %-32s %-14s %s' % row)

