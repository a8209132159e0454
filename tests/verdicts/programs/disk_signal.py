# expect: disk_exceeded signal=SIGXFSZ
# row: 12
# limits: {"disk": "64k"}
# weight: 8
# the kernel's signal, not ignored

import os
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
fd = os.open("a", os.O_WRONLY | os.O_CREAT)
os.lseek(fd, 1 << 20, 0)
os.write(fd, b"x")
