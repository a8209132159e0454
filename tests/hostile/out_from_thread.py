# expect: success
# output: =thread\n
# written by a thread while the first one ends

import os
import threading
import time


def late():
    time.sleep(0.2)
    os.write(1, b'thread\n')


threading.Thread(target=late).start()
