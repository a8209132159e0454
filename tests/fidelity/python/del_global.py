class Thing:
    def __del__(self):
        print("deleted")


thing = Thing()
print("end")
