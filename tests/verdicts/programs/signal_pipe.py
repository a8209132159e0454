# expect: signaled signal=SIGPIPE
# weight: 9
# a pipe without a reader, with the kernel's action

import os
import signal

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
a, b = os.pipe()
os.close(a)
os.write(b, b"x")
