# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# a list of matches

import re

found = re.findall("x", "x" * (10 << 20))
