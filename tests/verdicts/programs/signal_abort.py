# expect: signaled signal=SIGABRT
# weight: 20
# gives up

import os
os.abort()
