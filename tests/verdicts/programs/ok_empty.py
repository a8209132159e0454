# expect: success exit=0
# output:
# says nothing

pass
