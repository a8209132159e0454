# expect: output_exceeded stdout
# limits: {"output": 4096}
# the excess is still in the pipe when it ends

import os

os.write(1, b'x' * 4097)
os._exit(0)
