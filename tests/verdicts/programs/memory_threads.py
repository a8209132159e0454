# expect: memory_exceeded hook
# without hook: success | memory_exceeded | error exit=1
# limits: {"memory": "64m", "threads": 4}
# weight: 1
# threads that share the limit

import threading

blocks = []


def work():
    for _ in range(10):
        blocks.append(bytearray(4 << 20))


threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
raise SystemExit(len(blocks) == 40)
