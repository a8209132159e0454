import sys


class Thing:
    def __del__(self):
        print("deleted")


thing = Thing()
sys.excepthook = lambda *args: print("hook", thing is not None)
raise ValueError
