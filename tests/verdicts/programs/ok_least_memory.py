# expect: success
# output: 1\n
# limits: {"memory": "1m"}
# the least limit there is

print(1)
