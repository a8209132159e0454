import sys
print(repr(input()))
print(repr(sys.stdin.readline()))
print(repr(sys.stdin.buffer.read(3)))
print(repr(sys.stdin.read()))
