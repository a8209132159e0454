# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# busy at its end

import atexit


def work():
    while True:
        pass


atexit.register(work)
