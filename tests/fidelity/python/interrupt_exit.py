import atexit
atexit.register(print, "atexit still runs")
try:
    raise KeyboardInterrupt
except KeyboardInterrupt:
    raise SystemExit(6)
