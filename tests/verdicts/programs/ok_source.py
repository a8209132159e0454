# expect: success
# source: hook
# without hook: success
# case: 25
# weight: 20
# the answer says where its figure of memory is from

x = bytearray(1 << 20)
