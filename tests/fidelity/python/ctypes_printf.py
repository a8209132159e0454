import ctypes
print("python first", flush=True)
ctypes.CDLL(None).printf(b"by C, never flushed by hand\n")
