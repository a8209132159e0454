class Thing:
    def __del__(self):
        print(name, len(name), __name__)


name = "global"
thing = Thing()
