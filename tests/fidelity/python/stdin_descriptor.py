import os
print(os.read(0, 100))
print(open(0).read() == "")
