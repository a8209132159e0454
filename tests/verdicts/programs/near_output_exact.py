# expect: success
# limits: {"output": 1024}
# weight: 20
# exactly the limit

import sys
sys.stdout.write("y" * 1024)
