# expect: signaled signal=SIGABRT
# gives up

import os
os.abort()
