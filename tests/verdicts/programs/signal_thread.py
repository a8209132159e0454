# expect: signaled signal=SIGABRT
# weight: 17
# a thread gives up

import os
import threading

threading.Thread(target=os.abort).start()
threading.Event().wait()
