# expect: disk_exceeded exit=1
# limits: {"disk": "64k"}
# directories only

import os

while True:
    os.mkdir("d")
    os.chdir("d")
