# expect: timeout cpu_per_second
# limits: {"timeout": "10s", "cpu_per_second": 100}
# a loop that rests a little: the deadline is far, its share of a second is not

import time

while True:
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    time.sleep(0.01)
