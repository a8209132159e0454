import os
import sys
for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream.buffer.raw._blksize, os.fstat(stream.fileno()).st_blksize)
