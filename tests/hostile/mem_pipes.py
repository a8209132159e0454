# expect: success
# output: bounded
# kernel buffers: as many as it may have descriptors

import fcntl
import os

n = 0
try:
    while True:
        r, w = os.pipe()
        os.set_blocking(w, False)
        try:
            while True:
                n += os.write(w, bytes(65536))
        except BlockingIOError:
            pass
except OSError:
    pass
print('breach' if n > 64 << 20 else 'bounded')
