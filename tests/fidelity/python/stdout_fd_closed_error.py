import os
print("x")
os.close(1)
raise ValueError("and an error")
