# expect: error exit=1
# stderr: PermissionError
# file: eat
# weight: 20
# a static program of its own: nothing below /tmp is executed

import os

os.chmod("eat", 0o755)
os.execv("./eat", ["eat", "main.py"])
