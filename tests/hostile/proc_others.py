# expect: success
# output: refused
# no process but its own is to be seen

import os

pids = [p for p in os.listdir('/proc') if p.isdigit() and p != str(os.getpid())]
print('breach' if pids else 'refused', *pids)
