# expect: output_exceeded stdout
# limits: {"output": 0}
# no output allowed

print("x")
