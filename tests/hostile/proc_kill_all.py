# expect: signaled|success
# signals reach its own processes only

import os

os.kill(-1, 9)
os.kill(os.getpid(), 9)
