# expect: success
# output: refused
# the root has nothing of the host

import os

seen = [p for p in ('/root', '/home', '/var', '/sys', '/boot', '/opt', '/srv',
                    '/etc/shadow', '/etc/hostname', '/proc/1/root',
                    '/tmp/../../../var')
        if os.path.exists(p)]
print('breach' if seen else 'refused', *seen)
