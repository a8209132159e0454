# expect: success
# output: here
# the slot's init shows nothing and takes no signal

import os
import signal

for p in ('/proc/1/root/etc', '/proc/1/environ', '/proc/1/mem', '/proc/1/fd',
          '/proc/1/ns/mnt', '/proc/1/exe'):
    try:
        os.stat(p)
        open(p, 'rb').read(1)
        print('breach', p)
    except OSError:
        pass
for sig in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGCHLD):
    try:
        os.kill(1, sig)
    except OSError:
        pass
print('here')
