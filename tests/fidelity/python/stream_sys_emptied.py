import sys
print('answer')
sys.__dict__.clear()
