# expect: disk_exceeded exit=1
# limits: {"disk": "64k"}
# weight: 20
# directories only

import os

while True:
    os.mkdir("d")
    os.chdir("d")
