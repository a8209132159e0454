class Thing:
    def __del__(self):
        print("helper's", __name__)


thing = Thing()
