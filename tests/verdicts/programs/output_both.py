# expect: success
# limits: {"output": 2000}
# weight: 20
# each stream has its own limit

import sys

sys.stdout.write("o" * 2000)
sys.stderr.write("e" * 2000)
