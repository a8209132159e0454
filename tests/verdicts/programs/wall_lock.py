# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# a dead lock

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
