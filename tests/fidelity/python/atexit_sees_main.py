import atexit


@atexit.register
def look():
    print(sorted(name for name in globals() if name != "__builtins__"))


value = 1
