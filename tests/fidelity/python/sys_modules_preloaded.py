import sys
print("json" in sys.modules, "random" in sys.modules)
