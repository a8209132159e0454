import _thread
import time


def work():
    print("raw", flush=True)
    raise ValueError("raw thread")


_thread.start_new_thread(work, ())
time.sleep(0.1)
