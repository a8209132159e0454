# expect: success
# output: 
# stderr: ^Error: no$
# text on standard error is no failure

import sys
sys.stderr.write("Error: no")
