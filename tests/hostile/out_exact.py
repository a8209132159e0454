# expect: success
# limits: {"output": 4096}
# exactly the limit is no excess

import os

os.write(1, b'x' * 4096)
os._exit(0)
