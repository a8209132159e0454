# expect: success
# limits: {"memory": "64m"}
# case: 22
# weight: 3
# reads more than its memory in chunks: page cache is no memory of the run

import os

total = 0
for _ in range(2):
    with open("/usr/bin/node", "rb", buffering=0) as f:
        while chunk := f.read(1 << 20):
            total += len(chunk)
assert total > 64 << 20
