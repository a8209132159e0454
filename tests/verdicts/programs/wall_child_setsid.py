# expect: timeout wall
# case: 42
# limits: {"timeout": 300, "cpu_time": 30000, "processes": 4}
# says: time limit of 300ms exceeded
# weight: 3
# waits for a child in a session of its own

import subprocess

subprocess.run(["/usr/bin/python3", "-c", "import time; time.sleep(300)"],
               start_new_session=True)
