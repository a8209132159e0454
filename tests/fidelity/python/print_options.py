import sys
print(1, "two", [3.0], sep="-", end="|")
print(file=sys.stdout)
print(*range(5), sep="", flush=True)
