# expect: memory_exceeded hook signal=SIGABRT
# mode: soft
# limits: {"memory": "64m", "threads": 0}
# without hook: signaled signal=SIGABRT
# weight: 20
# soft mode, and a signal

import os

try:
    x = bytearray(1 << 30)
except MemoryError:
    os.abort()
