# expect: signaled signal=SIGTERM
# the signal of a timeout, from itself

import os
os.kill(os.getpid(), 15)
