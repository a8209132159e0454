class Thing:
    def __del__(self):
        print("deleted")


thing = Thing()
thing.me = thing
print("end")
