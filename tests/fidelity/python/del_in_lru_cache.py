import functools


class Thing:
    def __del__(self):
        print("deleted")


@functools.lru_cache(None)
def make(n):
    return Thing()


make(1)
print("end")
