# expect: success
# output: done
# the interpreter's files stay in the host's cache

import os

fd = os.open(os.__file__, 0)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
print('done')
