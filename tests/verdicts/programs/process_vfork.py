# expect: process_exceeded exit=1
# weight: 20
# posix_spawn is a fork, too

import os

os.posix_spawn("/usr/bin/python3", ["python3"], {})
