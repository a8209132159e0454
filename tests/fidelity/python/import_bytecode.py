import os
import helper
print(sorted(os.listdir()), sorted(os.listdir("__pycache__")))
print(helper.__cached__)
