# expect: error exit=1
# stderr: Too many open files
# weight: 7
# refused by a limit of its own

import resource

resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
files = []
while True:
    files.append(open("/dev/null"))
