# expect: success
# weight: 20
# asks to be the first to be killed

try:
    with open("/proc/self/oom_score_adj", "w") as f:
        f.write("1000")
except OSError:
    pass
