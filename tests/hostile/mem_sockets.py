# expect: success|memory_exceeded
# output: ?bounded
# socket buffers: of the default size, as many as it may have descriptors

import socket

n = 0
pairs = []
try:
    while True:
        pair = socket.socketpair()
        pairs.append(pair)
        for s in pair:
            s.setblocking(False)
            for option in (socket.SO_SNDBUF, 32):
                try:
                    s.setsockopt(socket.SOL_SOCKET, option, 1 << 30)
                    print('breach')
                except OSError:
                    pass
            try:
                while True:
                    n += s.send(bytes(65536))
            except BlockingIOError:
                pass
except OSError:
    pass
print('breach' if n > 128 << 20 else 'bounded', n >> 20)
