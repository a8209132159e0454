import sys
raw = sys.stdout.detach()
raw.write(b"detached\n")
raw.flush()
