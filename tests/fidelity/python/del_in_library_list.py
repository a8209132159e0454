import sys


class Thing:
    def __del__(self):
        print("in a list")


sys.meta_path.append(Thing())
