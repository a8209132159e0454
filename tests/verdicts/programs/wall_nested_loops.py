# expect: timeout wall
# case: 11
# limits: {"timeout": 200, "cpu_time": 30000}
# says: time limit of 200ms exceeded
# weight: 4
# loops in loops

n = 0
for i in range(10**6):
    for j in range(10**6):
        n += j
