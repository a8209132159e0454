import sys
print("to stderr", file=sys.stderr)
sys.stderr.write("partial")
print("to stdout")
