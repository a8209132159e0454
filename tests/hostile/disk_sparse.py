# expect: error|disk_exceeded
# a file of a terabyte with nothing in it

f = open('/tmp/x', 'wb')
f.truncate(1 << 40)
print('breach')
