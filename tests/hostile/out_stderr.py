# expect: output_exceeded stderr
# the other stream

import os

while True:
    os.write(2, b'x' * 65536)
