# expect: error exit=1
# stderr: MemoryError
# weight: 20
# prints what a full memory looks like

import sys

sys.stderr.write("Traceback (most recent call last):\nMemoryError\n")
sys.exit(1)
