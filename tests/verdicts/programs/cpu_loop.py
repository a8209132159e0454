# expect: timeout cpu
# row: 6
# case: 5
# limits: {"cpu_time": 50, "timeout": 30000}
# says: CPU time limit of 50ms exceeded
# weight: 4
# busy

while True:
    pass
