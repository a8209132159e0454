import os
import tempfile
with tempfile.TemporaryDirectory() as path:
    print(path.startswith("/tmp/"), os.path.isdir(path))
print(os.path.isdir(path), tempfile.gettempdir())
with tempfile.NamedTemporaryFile("w+") as f:
    f.write("x")
    f.seek(0)
    print(f.read())
