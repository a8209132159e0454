# expect: success
# output: 1\n
# limits: {"memory": "1m"}
# weight: 20
# the least limit there is

print(1)
