# expect: error exit=3
# weight: 12
# an exit code

import sys
sys.exit(3)
