# expect: signaled signal=SIGKILL
# row: 15
# weight: 20
# kills itself as the kernel would

import os
os.kill(os.getpid(), 9)
