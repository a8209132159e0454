# expect: success
# limits: {"output": 1024}
# output: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n
# below the limit

print("y" * 40)
