# expect: success
# output: no\n
# there is no network, and that is told

import socket

try:
    socket.socket()
except PermissionError:
    print("no")
