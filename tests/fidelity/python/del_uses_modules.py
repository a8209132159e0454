import os
import json


class Thing:
    def __del__(self):
        print(json.dumps({"cwd": os.getcwd()}))


thing = Thing()
