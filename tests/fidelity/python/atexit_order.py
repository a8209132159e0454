import atexit
atexit.register(print, "first registered")
atexit.register(print, "last registered", end="!\n")
print("main")
