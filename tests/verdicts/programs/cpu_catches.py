# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# catches everything

while True:
    try:
        while True:
            pass
    except BaseException:
        pass
