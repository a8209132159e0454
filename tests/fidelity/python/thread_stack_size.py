import sys
import threading
threading.stack_size(32 << 20)
sys.setrecursionlimit(20000)


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


thread = threading.Thread(target=lambda: print(down(15000)))
thread.start()
thread.join()
