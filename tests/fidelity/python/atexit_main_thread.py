import atexit
import threading
atexit.register(lambda: print(threading.main_thread().is_alive()))
