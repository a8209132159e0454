# expect: memory_exceeded|memory_violation|signaled|error|file_exceeded
# the hook's page is its own to spoil, never to its good

import ctypes

for line in open('/proc/self/maps'):
    if 'sbx-page' in line:
        at = int(line.split('-')[0], 16)
        ctypes.memset(at, 0xff, 4096)
        ctypes.memset(at + 16, 0x7f, 16)
x = bytearray(10 ** 9)
x[::4096] = b'x' * len(x[::4096])
print('breach')
