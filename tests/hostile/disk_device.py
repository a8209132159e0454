# expect: success
# output: refused\nrefused\n
# a device node would be the host's

import os

for mode in (0o20666, 0o60666):
    try:
        os.mknod('/tmp/dev', mode, os.makedev(1, 1))
        open('/tmp/dev', 'rb').read(1)
        print('breach')
    except OSError:
        print('refused')
