# expect: signaled signal=SIGTERM
# weight: 20
# the signal of a timeout, from itself

import os
os.kill(os.getpid(), 15)
