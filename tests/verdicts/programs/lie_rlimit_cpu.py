# expect: signaled signal=SIGXCPU
# weight: 1
# ended by a limit of its own: the run had more

import resource

resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
while True:
    pass
