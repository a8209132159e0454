import atexit


def again():
    print("one")
    atexit.register(print, "two")


atexit.register(again)
