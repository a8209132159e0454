import atexit
atexit.register(print, "still here")
raise ValueError("x")
