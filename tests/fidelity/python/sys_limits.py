import sys
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.maxsize)
print(sys.float_info, sys.int_info, sys.hash_info, sys.thread_info)
print(sys.get_int_max_str_digits(), sys.getdlopenflags())
