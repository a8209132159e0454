# expect: success
# weight: 20
# bytes that are no UTF-8

import os
os.write(1, b"\xff\xfe")
