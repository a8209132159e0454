# expect: error exit=3
# an exit code

import sys
sys.exit(3)
