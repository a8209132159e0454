import sys
print('answer')
sys.stdout = sys.__stdout__ = sys.stderr
