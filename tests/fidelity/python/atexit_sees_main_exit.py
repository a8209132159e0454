import atexit
import sys


@atexit.register
def look():
    print("__file__" in globals())


sys.exit(0)
