# expect: error exit=1
# stderr: MemoryError
# weight: 7
# refused by a limit of its own

import resource

resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
x = bytearray(32 << 20)
