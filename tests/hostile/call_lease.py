# expect: success
# output: =refused
# A lease on a file makes others wait who open it.
import fcntl
import os

place = os.open('/usr/bin/python3', os.O_RDONLY)
try:
    fcntl.fcntl(place, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    print('breach: a lease')
except PermissionError:
    print('refused', end='')
