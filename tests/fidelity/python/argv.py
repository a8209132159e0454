import sys
print(sys.argv, len(sys.argv))
print([ascii(word) for word in sys.argv])
