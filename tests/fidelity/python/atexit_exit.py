import atexit
import sys
atexit.register(sys.exit, 7)
print("main")
