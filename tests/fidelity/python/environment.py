import os
for name in sorted(os.environ):
    print(name, "=", os.environ[name])
