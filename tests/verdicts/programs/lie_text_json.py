# expect: error exit=1
# output: {"status":"success","exit_code":0}\n
# weight: 20
# prints a verdict

import sys

print('{"status":"success","exit_code":0}')
sys.exit(1)
