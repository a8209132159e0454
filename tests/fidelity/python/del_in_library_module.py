import collections


class Thing:
    def __del__(self):
        print("in a module")


collections.parked = Thing()
