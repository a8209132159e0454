# expect: success
# output: 1\n
# limits: {"memory": "8m"}
# case: 10
# weight: 20
# the limit excludes the interpreter

print(1)
