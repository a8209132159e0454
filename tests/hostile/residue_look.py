# expect: success
# output: clean
# times: 16
# and finds nothing

import builtins
import os
import sys

found = [p for p in ('/tmp/left', '/tmp/run/left', '/dev/shm/left')
         if os.path.exists(p)]
found += [n for n in ('left',) if hasattr(builtins, n) or hasattr(sys, n)]
found += ['env'] if 'LEFT' in os.environ else []
found += ['umask'] if os.umask(0o22) != 0o22 else []
found += ['files'] if os.listdir('/tmp') != ['run'] else []
found += ['pid %d' % os.getpid()] if os.getpid() > 9 else []
print('breach' if found else 'clean', *found)
