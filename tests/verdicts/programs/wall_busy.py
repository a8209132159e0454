# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# busy, with more CPU time than time

while True:
    pass
