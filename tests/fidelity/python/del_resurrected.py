kept = []


class Thing:
    def __del__(self):
        print("again")
        kept.append(self)


thing = Thing()
del thing
print(len(kept))
