# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# an exception after another

while True:
    try:
        1 / 0
    except ZeroDivisionError:
        pass
