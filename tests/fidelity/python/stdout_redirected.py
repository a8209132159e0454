import contextlib
import io
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("inside")
print(repr(buffer.getvalue()))
