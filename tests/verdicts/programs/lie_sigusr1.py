# expect: signaled signal=SIGUSR1
# weight: 11
# the hook's signal, from itself

import os
import signal

os.kill(os.getpid(), signal.SIGUSR1)
