import subprocess
import sys
try:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(9)"],
                   timeout=0.2)
except subprocess.TimeoutExpired as error:
    print(type(error).__name__, error.cmd[1:])
