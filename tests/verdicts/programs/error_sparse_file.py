# expect: error exit=1
# stderr: File too large
# limits: {"disk": "1m"}
# weight: 20
# a file that would be too long is refused before it is one: the disk has room

with open("a", "wb") as f:
    f.truncate(1 << 30)
