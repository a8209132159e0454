# expect: success exit=0
# weight: 20
# output:
# says nothing

pass
