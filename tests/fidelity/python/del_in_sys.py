import sys


class Thing:
    def __del__(self):
        print("in sys")


sys.parked = Thing()
