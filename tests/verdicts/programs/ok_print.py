# expect: success exit=0
# row: 17
# output: 2\n
# weight: 20
# the least there is

print(1 + 1)
