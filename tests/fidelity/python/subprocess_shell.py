import os
print(os.system("echo from a shell"))
