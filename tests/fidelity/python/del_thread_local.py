import threading


class Thing:
    def __del__(self):
        print("deleted")


local = threading.local()
local.thing = Thing()
print("end")
