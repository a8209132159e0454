# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# output: no limit raised\n
# weight: 7
# cannot raise a limit, and gets no more than before

import resource

raised = []
for name in dir(resource):
    if not name.startswith("RLIMIT_"):
        continue
    which = getattr(resource, name)
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        continue
    try:
        resource.setrlimit(which, (hard + 1, hard + 1))
        raised.append(name)
    except (ValueError, OSError):
        pass

print(" ".join(raised) or "no limit raised", flush=True)
x = bytearray(512 << 20)
