# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# 16 MiB of nothing in a few kB, ten times

import zlib

small = zlib.compress(bytes(16 << 20))
parts = [zlib.decompress(small) for _ in range(10)]
