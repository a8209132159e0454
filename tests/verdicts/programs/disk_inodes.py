# expect: disk_exceeded exit=1
# limits: {"disk": "64k"}
# no inode is left

n = 0
while True:
    n += 1
    open(str(n), "w").close()
