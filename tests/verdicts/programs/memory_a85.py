# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "512m", "timeout": 60000, "cpu_time": 60000, "threads": 0}
# case: A85 A86
# says: memory limit of 512m exceeded
# output: 
# weight: 1
# twice as many

a = list(range(20000000))
print("made")
