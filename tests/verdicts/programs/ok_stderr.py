# expect: success
# output: 
# stderr: ^Error: no$
# weight: 20
# text on standard error is no failure

import sys
sys.stderr.write("Error: no")
