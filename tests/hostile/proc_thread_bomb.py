# expect: process_exceeded|error
# threads are bounded

import threading
import time

for _ in range(10000):
    threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
