import ctypes
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b"GREETING"), libc.getenv(b"HOME"), libc.getenv(b"PATH"))
