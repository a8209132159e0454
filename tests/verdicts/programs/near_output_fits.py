# expect: success
# limits: {"output": 1024}
# output: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n
# weight: 20
# below the limit

print("y" * 40)
