# expect: success exit=0
# weight: 20
# output:
# SystemExit without a code

import sys
sys.exit()
