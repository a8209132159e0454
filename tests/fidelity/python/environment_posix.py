import posix
print(posix.environ[b"GREETING"], posix.environ[b"HOME"])
