import os
os.register_at_fork(before=lambda: print("before", flush=True),
                    after_in_parent=lambda: print("in parent", flush=True),
                    after_in_child=lambda: os.write(2, b"in child\n"))
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
