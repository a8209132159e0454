import os
import threading
event = threading.Event()
thread = threading.Thread(target=event.wait)
thread.start()
pid = os.fork()
if pid == 0:
    main = threading.main_thread()
    print(threading.active_count(), main is threading.current_thread(),
          main.native_id == threading.get_native_id(), thread.is_alive(),
          flush=True)
    os._exit(0)
os.waitpid(pid, 0)
event.set()
