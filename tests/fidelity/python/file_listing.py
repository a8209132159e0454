import os
print(os.getcwd(), sorted(os.listdir()), os.path.exists("main.py"))
