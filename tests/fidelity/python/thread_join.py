import threading
import time


def work():
    time.sleep(0.05)
    print("worker done")


threading.Thread(target=work).start()
print("main done")
