import sys


class Thing:
    def __del__(self):
        raise ValueError("x")


sys.unraisablehook = lambda args: print("hook", args.exc_value)
thing = Thing()
del thing
print("end")
