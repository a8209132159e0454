# expect: success
# output: refused
# no directory but its own takes a file

import os

made = []
for top, dirs, files in os.walk('/'):
    if top.startswith(('/proc', '/tmp', '/dev/shm', '/usr/lib', '/usr/share',
                       '/usr/local')):
        dirs[:] = []
        continue
    try:
        open(os.path.join(top, 'x'), 'w').close()
        made.append(top)
    except OSError:
        pass
print('breach' if made else 'refused', *made)
