# expect: success
# output: no\n
# weight: 6
# there is no network, and that is told

import socket

try:
    socket.socket()
except PermissionError:
    print("no")
