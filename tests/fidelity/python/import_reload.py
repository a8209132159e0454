import importlib
import helper
with open("helper.py", "w") as f:
    f.write("x = 'changed and longer'\n")
importlib.reload(helper)
print(helper.x)
