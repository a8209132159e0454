import os
import random
random.seed(1)
expected = random.Random(1).random()
pid = os.fork()
if pid == 0:
    print("child has the parent's numbers:", random.random() == expected,
          flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent keeps them:", random.random() == expected)
