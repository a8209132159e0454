import sys


def hook(*args):
    raise RuntimeError("in the hook")


sys.excepthook = hook
raise ValueError("x")
