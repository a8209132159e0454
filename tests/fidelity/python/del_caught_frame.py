class Thing:
    def __del__(self):
        print("deleted")


def f():
    thing = Thing()
    raise ValueError


try:
    f()
except ValueError:
    print("caught")
print("end")
