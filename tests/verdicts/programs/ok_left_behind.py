# expect: success
# output: parent\n
# limits: {"processes": 8}
# case: 42
# weight: 1
# what is left behind in a session of its own dies with the run

import subprocess

subprocess.Popen(["/usr/bin/python3", "-c", "import time; time.sleep(300)"],
                 start_new_session=True)
print("parent")
