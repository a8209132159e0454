"""Which test shows which entry of the list of fault classes, sections A to E.

The list is of faults that other judges' trackers report (README.md has them in
a sentence each).  A program says with `case: NUMBER` what it shows; what needs
more than one program has its test elsewhere, named here by file and words in it.
"""

import os

import corpus

TOP = os.path.join(corpus.HERE, '../..')

FAULTS = (1, 3, 4, 5, 6, 7, 10, 11, 12, 14,
          15, 16, 17, 18, 20, 21,
          22, 23, 25, 27, 28,
          29, 31, 33, 34, 37, 38,
          41, 42, 43, 44, 46, 47, 49)
SAMPLES = ('A62', 'A84', 'A85', 'A86', 'A87', 'A88', 'A89', 'B23', 'B32')

ELSEWHERE = {
    '23': ('tests/verdicts/run.py', 'def check_equal_memory'),
    '46': ('tests/http/cases.py', 'def lost_clients'),
    '49': ('tests/http/cases.py', 'def many_sleepers'),
    'A88': ('tests/verdicts/programs/memory_a87_node.js', 'without hook'),
}


def check(programs):
    """What is wrong with the map, or None."""
    shown = {case for program in programs for case in program.cases}
    known = {str(n) for n in FAULTS} | set(SAMPLES)
    if not shown <= known:
        return 'programs name %s' % sorted(shown - known)
    for case in sorted(known - shown):
        if case not in ELSEWHERE:
            return 'nothing shows %s' % case
        file, words = ELSEWHERE[case]
        with open(os.path.join(TOP, file)) as f:
            if words not in f.read():
                return '%s has no %r' % (file, words)
    return None
