# expect: success
# limits: {"memory": "32m", "threads": 40}
# weight: 6
# stacks are reserved whole and used in part

import threading

event = threading.Event()
threads = [threading.Thread(target=event.wait) for _ in range(30)]
for thread in threads:
    thread.start()
event.set()
for thread in threads:
    thread.join()
