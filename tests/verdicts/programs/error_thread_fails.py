# expect: error exit=5
# weight: 15
# a thread ends the process

import os
import threading

threading.Thread(target=os._exit, args=(5,)).start()
threading.Event().wait()
