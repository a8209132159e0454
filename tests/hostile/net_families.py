# expect: success
# output: refused
# no socket of any family

import socket

for family in range(1, 46):
    for kind in (1, 2, 3):
        try:
            socket.socket(family, kind, 0)
            print('breach', family)
        except OSError:
            pass
print('refused')
