import weakref


class Thing:
    pass


thing = Thing()
reference = weakref.ref(thing, lambda ref: print("callback"))
print("end")
