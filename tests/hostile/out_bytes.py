# expect: success
# NUL, half a character, one byte at a time

import os

for b in b'a\0\xe2\x82':
    os.write(1, bytes([b]))
