import os
print("written twice")
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
print("end")
