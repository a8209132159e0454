# expect: output_exceeded stdout
# limits: {"output": 0}
# weight: 20
# no output allowed

print("x")
