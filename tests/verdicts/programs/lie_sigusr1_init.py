# expect: success
# output: ok\n
# weight: 9
# the hook's signal to the slot's init, without a reason

import os
import signal

try:
    os.kill(1, signal.SIGUSR1)
except PermissionError:
    pass            # the init is another user's
print("ok")
