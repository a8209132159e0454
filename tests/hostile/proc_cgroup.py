# expect: success
# output: False False
# cgroup files are not there

import os

print(os.path.exists('/sys/fs/cgroup'), os.path.exists('/sys'))
