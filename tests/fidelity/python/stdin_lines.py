import sys
for number, line in enumerate(sys.stdin):
    print(number, repr(line))
