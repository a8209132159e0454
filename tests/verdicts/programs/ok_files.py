# expect: success
# output: 90\n
# limits: {"open_files": 100}
# weight: 19
# 0.9 of the open files

print(len([open("/dev/null") for _ in range(90)]))
