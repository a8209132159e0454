# expect: process_exceeded exit=1
# without cgroup: error exit=1
# limits: {"threads": 4}
# weight: 1
# threads until one is refused

import threading

event = threading.Event()
try:
    for _ in range(20):
        threading.Thread(target=event.wait).start()
finally:
    event.set()
