import sys
print(sys.executable, sys._base_executable, sys.prefix, sys.exec_prefix)
print(sys.base_prefix, sys.platlibdir, sys.version, sys.version_info)
print(sys.implementation, sys.abiflags, sys.api_version, sys.hexversion)
print(sys.orig_argv, sys.platform, sys.byteorder, sys.pycache_prefix)
