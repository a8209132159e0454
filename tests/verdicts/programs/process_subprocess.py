# expect: process_exceeded exit=1
# stderr: BlockingIOError
# weight: 5
# the same, by a module

import subprocess

subprocess.run(["/usr/bin/python3", "-c", "1"], check=True)
