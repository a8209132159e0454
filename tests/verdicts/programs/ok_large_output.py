# expect: success
# case: 31
# weight: 20
# 200 kB below a limit of 1 MiB: complete, see says in the runner

import sys
sys.stdout.write("x" * 200000)
