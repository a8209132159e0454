# expect: error exit=1
# stderr: File too large
# weight: 7
# refused by a limit of its own

import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
with open("a", "wb", buffering=0) as f:
    while True:
        f.write(b"x" * 10)
