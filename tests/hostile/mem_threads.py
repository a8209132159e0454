# expect: success|memory_exceeded|process_exceeded
# output: ?bounded
# stacks of threads

import threading
import time

threading.stack_size(64 << 20)
n = 0
try:
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
        n += 1
except RuntimeError:
    pass
print('breach' if n > 64 else 'bounded')
