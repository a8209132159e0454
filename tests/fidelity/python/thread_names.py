import threading
for i in range(2):
    thread = threading.Thread(target=lambda: print(
        threading.current_thread().name))
    thread.start()
    thread.join()
