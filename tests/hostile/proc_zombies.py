# expect: success
# limits: {"processes": 8, "timeout": 10000}
# output: done
# its init reaps, so zombies do not fill the table

import os

for _ in range(30):
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(pid, 0)
print('done')
