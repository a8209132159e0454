# expect: error exit=137
# weight: 4
# exec drops the hook, then the code of a kill

import os

os.execv("/usr/bin/python3", ["python3", "-c", "import os; os._exit(137)"])
