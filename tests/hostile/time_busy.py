# expect: timeout
# limits: {"cpu_time": 300, "timeout": 9000}
# processor time

while True:
    pass
