# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# a thread that never ends

import threading

threading.Thread(target=threading.Event().wait).start()
