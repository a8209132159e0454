import signal


class Thing:
    def __del__(self):
        print("deleted")


thing = Thing()
signal.signal(signal.SIGUSR2, lambda number, frame: print(thing))
print("end")
