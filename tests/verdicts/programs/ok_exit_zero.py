# expect: success exit=0
# output:
# SystemExit without a code

import sys
sys.exit()
