# expect: output_exceeded stdout
# limits: {"output": 4096}
# weight: 17
# a thread prints

import threading


def work():
    while True:
        print("x" * 100, flush=True)


threading.Thread(target=work).start()
