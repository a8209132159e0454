# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# deep calls that the program allowed itself, each with a block

import sys

sys.setrecursionlimit(10**6)


def f(n):
    block = bytearray(1 << 20)
    return f(n + 1) and block


f(0)
