# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# threads count together

import threading


def work():
    while True:
        pass


for _ in range(4):
    threading.Thread(target=work).start()
