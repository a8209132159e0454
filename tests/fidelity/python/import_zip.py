import sys
import zipfile
with zipfile.ZipFile("lib.zip", "w") as z:
    z.writestr("zipped.py", "def f():\n    return 1 / 0\n")
sys.path.insert(0, "lib.zip")
import zipped
print(zipped.__file__)
zipped.f()
