import os
pid = os.fork()
if pid == 0:
    print("child", os.getppid() > 0, flush=True)
    os._exit(3)
print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
