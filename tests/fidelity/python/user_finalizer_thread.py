import threading


class Thing:
    def __del__(self):
        print("alive:", threading.main_thread().is_alive())


thing = Thing()
