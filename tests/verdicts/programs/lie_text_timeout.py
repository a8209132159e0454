# expect: error exit=143
# weight: 20
# prints and returns what a timeout looks like

import sys

print("time limit of 5s exceeded")
sys.exit(143)
