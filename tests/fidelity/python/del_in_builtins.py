import builtins


class Thing:
    def __del__(self):
        print("in builtins")


builtins.parked = Thing()
