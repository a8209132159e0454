import tempfile
d = tempfile.TemporaryDirectory()
f = tempfile.TemporaryFile()
print("end")
