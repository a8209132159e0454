# expect: file_exceeded exit=1
# without hook: error exit=1
# limits: {"open_files": 64}
# weight: 5
# pairs of sockets

import socket

pairs = []
while True:
    pairs.append(socket.socketpair())
