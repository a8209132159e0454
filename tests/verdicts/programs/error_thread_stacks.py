# expect: error exit=1
# stderr: can't start new thread
# limits: {"memory": "32m", "threads": 8}
# weight: 1
# stacks larger than the address space: contained, and its own end

import threading

threading.stack_size(256 << 20)
event = threading.Event()
try:
    for _ in range(4):
        threading.Thread(target=event.wait).start()
finally:
    event.set()
