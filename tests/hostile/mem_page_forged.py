# expect: memory_exceeded|error|signaled|success|file_exceeded
# a verdict it forges is against itself

import ctypes

for line in open('/proc/self/maps'):
    if 'sbx-page' in line:
        ctypes.memset(int(line.split('-')[0], 16), 0x80, 4096)
