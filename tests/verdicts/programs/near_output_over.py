# expect: output_exceeded stdout
# limits: {"output": 1024}
# weight: 20
# one byte more

import sys
sys.stdout.write("y" * 1025)
