# expect: success
# output: nothing shared
#
# Memory that is shared with the zygote would reach every later run.  The hook's
# page is the slot's own; it is the one exception, and shared with nobody's run.

with open("/proc/self/maps") as maps:
    shared = [line.split(None, 5) for line in maps
              if line.split()[1][3] == "s"]

# a library's cache, from a file that nobody here may write to, is no channel
other = [m for m in shared if "page" not in m[-1]
         and not m[-1].startswith("/usr/")]

print("breach:" if other else "nothing shared", *other)
