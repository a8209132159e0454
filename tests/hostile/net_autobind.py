# expect: success
# output: refused
# an abstract name would be one for other runs, too

import socket

a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
b.close()
for option in (16, 76):             # SO_PASSCRED, SO_PASSPIDFD
    try:
        a.setsockopt(socket.SOL_SOCKET, option, 1)
    except OSError:
        pass
for _ in range(2):
    try:
        a.send(b'x')
    except OSError:
        pass
print('breach' if a.getsockname() else 'refused', a.getsockname())
