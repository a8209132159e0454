# expect: success|timeout
# refused calls in a loop, from many threads

import ctypes
import threading
import time

libc = ctypes.CDLL(None)
end = time.time() + 1


def ask():
    while time.time() < end:
        libc.syscall(41, 2, 1, 0)


threads = [threading.Thread(target=ask) for _ in range(60)]
for t in threads:
    t.start()
for t in threads:
    t.join()
