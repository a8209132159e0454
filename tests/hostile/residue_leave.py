# expect: success
# output: left
# times: 16
# leaves all it can; residue_look comes after it in every slot

import builtins
import os
import sys

for top in ('/tmp', '/tmp/run', '/dev/shm'):
    try:
        open(top + '/left', 'w').write('x')
    except OSError:
        pass
os.environ['LEFT'] = builtins.left = sys.left = 'x'
os.umask(0)
print('left')
