# expect: output_exceeded stdout
# row: 7
# limits: {"output": 1024}
# case: 29
# says: output limit of 1k exceeded
# weight: 20
# the first part is kept

for i in range(3000):
    print(i)
