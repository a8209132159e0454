class Thing:
    def __del__(self):
        print("deleted")


def f():
    thing = Thing()
    raise ValueError("holds a frame")


f()
