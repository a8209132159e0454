import os
import pathlib
print(os.environ["HOME"], pathlib.Path.home(), os.path.expanduser("~/x"))
