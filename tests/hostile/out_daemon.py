# expect: success
# output: =end\n
# a thread that is still there when it ends

import os
import threading


def spin():
    while True:
        os.getpid()


threading.Thread(target=spin, daemon=True).start()
os.write(1, b'end\n')
os._exit(0)
