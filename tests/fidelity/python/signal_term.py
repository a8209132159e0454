import os
import signal
print("a", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
