# expect: timeout wall
# case: 6
# limits: {"timeout": 200, "cpu_time": 30000}
# says: time limit of 200ms exceeded
# weight: 4
# which of two limits fired is told

while True:
    pass
