# expect: error|disk_exceeded
# and numbers of files

for i in range(100000):
    open('/tmp/%d' % i, 'w').close()
print('breach')
