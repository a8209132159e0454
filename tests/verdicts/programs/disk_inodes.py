# expect: disk_exceeded exit=1
# limits: {"disk": "64k"}
# weight: 20
# no inode is left

n = 0
while True:
    n += 1
    open(str(n), "w").close()
