# expect: success
# weight: 14
# prints what a full memory looks like, and all is well

import sys

print("memory limit of 128m exceeded: Malloc hook triggered")
sys.stderr.write("Out of memory: Killed process\n")
