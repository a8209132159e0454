import os
import threading


def work():
    pid = os.fork()
    if pid == 0:
        print(threading.current_thread() is threading.main_thread(),
              flush=True)
        os._exit(0)
    os.waitpid(pid, 0)


thread = threading.Thread(target=work)
thread.start()
thread.join()
