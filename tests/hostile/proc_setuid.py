# expect: success
# output: refused\nrefused\nrefused\nrefused\n
# ids stay

import os

for f in (lambda: os.setuid(0), lambda: os.setgroups([0]),
          lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0)):
    try:
        f()
        print('breach')
    except OSError:
        print('refused')
