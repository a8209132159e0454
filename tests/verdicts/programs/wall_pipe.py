# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# reads a pipe that nobody writes

import os

a, b = os.pipe()
os.read(a, 1)
