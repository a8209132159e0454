"""
>>> 1 + 1
3
"""
import doctest
print(doctest.testmod())
