# expect: success
# limits: {"output": 0}
# no output allowed, and none there

pass
