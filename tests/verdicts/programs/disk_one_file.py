# expect: disk_exceeded exit=1
# row: 12
# limits: {"disk": "1m"}
# weight: 20
# one file

with open("a", "wb") as f:
    while True:
        f.write(b"x" * 65536)
