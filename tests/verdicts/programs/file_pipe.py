# expect: file_exceeded exit=1
# without hook: error exit=1
# limits: {"open_files": 64}
# weight: 20
# pipes until one is refused

import os

pipes = []
while True:
    pipes.append(os.pipe())
