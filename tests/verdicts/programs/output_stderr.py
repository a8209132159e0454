# expect: output_exceeded stderr
# row: 8
# limits: {"output": 4096}
# weight: 20
# standard error has a limit, too

import sys

while True:
    sys.stderr.write("e" * 100)
