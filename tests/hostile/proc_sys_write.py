# expect: success
# output: done
# /proc is read-only and of processes only

import os

for p in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/kcore',
          '/proc/self/oom_score_adj', '/proc/self/uid_map', '/proc/self/attr/current',
          '/proc/kallsyms', '/proc/self/timerslack_ns'):
    try:
        os.close(os.open(p, os.O_WRONLY))
        print('breach', p)
    except OSError:
        pass
print('done')
