from typing import Dict, List


class Thing:
    def __del__(self):
        print("deleted")


def f(x: List[Thing]) -> Dict[str, Thing]:
    return {}


thing = Thing()
print("end")
