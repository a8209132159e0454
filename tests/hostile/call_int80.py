# expect: seccomp_violation|memory_violation
# numbers of the 32-bit ABI pass no table; a kernel without it faults

import ctypes
import mmap

page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('b814000000' 'cd80' 'c3'))    # getpid
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
ctypes.CFUNCTYPE(ctypes.c_int)(at)()
print('breach')
