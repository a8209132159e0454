import gc


class Thing:
    def __del__(self):
        print("deleted")


gc.disable()
thing = Thing()
thing.me = thing
del thing
print("end")
