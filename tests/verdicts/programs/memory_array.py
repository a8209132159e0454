# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# an array of doubles

import array

a = array.array("d", [0.0]) * (20 << 20)
