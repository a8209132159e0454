# expect: success|memory_exceeded
# output: ?bounded
# pipes made as large as the host lets them be

import fcntl
import os

n = 0
try:
    while True:
        r, w = os.pipe()
        os.set_blocking(w, False)
        for size in (1 << 30, 1 << 20):
            try:
                fcntl.fcntl(w, 1031, size)
                break
            except OSError:
                pass
        try:
            while True:
                n += os.write(w, bytes(65536))
        except BlockingIOError:
            pass
except OSError:
    pass
print('breach' if n > 128 << 20 else 'bounded', n >> 20)
