import os
import signal
print("lost")
os.kill(os.getpid(), signal.SIGHUP)
