import collections


def numbers():
    try:
        yield 1
    finally:
        print("closed")


collections.parked = numbers()
next(collections.parked)
