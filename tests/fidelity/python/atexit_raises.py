import atexit


def broken():
    1 / 0


atexit.register(print, "other one")
atexit.register(broken)
print("main")
