# expect: output_exceeded stdout
# without a line's end

import os

while True:
    os.write(1, b'x' * 65536)
