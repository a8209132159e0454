# expect: success
# output: 10000000\n
# limits: {"memory": "100m"}
# case: A62
# weight: 1
# the same list below 100 MB

a = [0] * 10**7
print(len(a))
