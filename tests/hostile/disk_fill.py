# expect: error|disk_exceeded
# both tmpfs have sizes

import os

for top in ('/tmp', '/dev/shm'):
    with open(top + '/x', 'wb') as f:
        for _ in range(64):
            f.write(bytes(1 << 20))
print('breach')
