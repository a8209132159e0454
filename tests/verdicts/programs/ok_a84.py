# expect: success
# output: made\n10000000\n
# limits: {"memory": "512m", "timeout": 60000, "cpu_time": 60000}
# case: A84
# weight: 1
# a list of ten million numbers is 400 MB, numbers included

a = list(range(10000000))
print("made")
print(len(a))
