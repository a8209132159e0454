# expect: success
# output: alive\n
# signals that it ignores

import os
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)
    os.kill(os.getpid(), number)
print("alive")
