# expect: success
# limits: {"output": 0}
# weight: 20
# no output allowed, and none there

pass
