# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# a pattern that looks back for ever

import re

re.match("(a+)+$", "a" * 60 + "b")
