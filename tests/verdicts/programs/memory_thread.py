# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 1}
# weight: 20
# a thread allocates

import threading


def work():
    x = bytearray(1 << 30)


thread = threading.Thread(target=work)
thread.start()
thread.join()
