import os
import time
if os.fork() == 0:
    os.close(0)
    os.close(1)
    os.close(2)
    time.sleep(3)
    os._exit(0)
print("first process ends")
