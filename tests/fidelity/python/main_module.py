import sys
import __main__
print(sys.modules["__main__"].__dict__ is globals(), __main__.__file__)
print(repr(__main__), sorted(sys.modules).index("__main__") >= 0)
