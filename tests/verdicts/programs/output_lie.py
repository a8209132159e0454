# expect: output_exceeded stdout
# limits: {"output": 1024}
# weight: 20
# too much, and a clean exit

import os

os.write(1, b"x" * 5000)
os._exit(0)
