import threading
threading.excepthook = lambda args: print("hook", args.exc_type.__name__)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
