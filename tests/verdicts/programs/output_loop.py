# expect: output_exceeded stdout
# limits: {"output": 65536}
# case: 14
# weight: 20
# prints for ever

while True:
    print("x" * 100)
