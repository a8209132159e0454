# expect: output_exceeded stdout
# limits: {"output": 65536}
# case: 34
# weight: 20
# one write

import os

os.write(1, b"x" * (1 << 20))
