import os
import signal
os.kill(os.getpid(), signal.SIGUSR2)
print("not reached")
