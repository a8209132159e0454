# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# an anonymous mapping

import mmap

m = mmap.mmap(-1, 100 << 20)
