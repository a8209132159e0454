# expect: disk_exceeded exit=1
# limits: {"disk": "1m"}
# weight: 20
# 1.5 times the disk

for i in range(150):
    with open(str(i), "wb") as f:
        f.write(b"x" * 10000)
