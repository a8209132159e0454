# expect: error exit=1
# stderr: over
# SystemExit with a text

import sys
sys.exit("over")
