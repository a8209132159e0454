# expect: error exit=1
# stderr: over
# weight: 20
# SystemExit with a text

import sys
sys.exit("over")
