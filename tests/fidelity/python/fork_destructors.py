import os


class Thing:
    def __del__(self):
        os.write(1, b"deleted\n")


thing = Thing()
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
