import logging
import os
import threading
logging.basicConfig(format="%(message)s")
held, go = threading.Event(), threading.Event()


def hold():
    with logging._lock:
        held.set()
        go.wait(0.2)


threading.Thread(target=hold).start()
held.wait()
pid = os.fork()
if pid == 0:
    logging.warning("no deadlock")
    os._exit(0)
os.waitpid(pid, 0)
