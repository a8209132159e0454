import sys
for name in ("sys", "os", "site", "codecs", "builtins", "__main__", "asyncio",
             "numpy", "unittest"):
    print(name, name in sys.modules)
