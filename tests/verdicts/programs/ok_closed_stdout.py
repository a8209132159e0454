# expect: success
# weight: 20
# output:
# closes what it could print to

import os
os.close(1)
os._exit(0)
