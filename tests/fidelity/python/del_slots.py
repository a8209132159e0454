class Thing:
    __slots__ = ()

    def __del__(self):
        print("no dict")


thing = Thing()
