import os
for path in ("missing", "/nonexistent/x", ".", "\0"):
    try:
        open(path)
    except (OSError, ValueError) as error:
        print(repr(error), getattr(error, "filename", None))
try:
    os.mkdir(".")
except OSError as error:
    print(error)
