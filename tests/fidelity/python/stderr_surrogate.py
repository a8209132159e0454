import sys
print("\udc80 \u4e2d", file=sys.stderr)
