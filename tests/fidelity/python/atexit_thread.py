import atexit
import threading
import time


def work():
    time.sleep(0.05)
    print("thread done")


atexit.register(print, "atexit after threads")
threading.Thread(target=work).start()
print("main done")
