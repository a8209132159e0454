import sys
data = sys.stdin.read()
print(len(data), data[:10], data[-10:])
