# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# C code that lets other threads run

import hashlib

hashlib.pbkdf2_hmac("sha256", b"x", b"y", 1 << 30)
