import sys


class Thing:
    def __del__(self):
        print(sys.path, sys.argv, sys.meta_path, sys.stdout is not None)


thing = Thing()
