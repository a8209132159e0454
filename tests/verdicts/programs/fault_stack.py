# expect: memory_violation signal=SIGSEGV
# violation: STACK_OVERFLOW
# limits: {"memory": "512m", "stack": "1m"}
# weight: 18
# recursion in C, deeper than the stack

import sys

sys.setrecursionlimit(10**9)


class A:
    def __getattr__(self, name):
        return getattr(self, name + "a")


class B:
    def __repr__(self):
        return repr(self)


repr(B())
