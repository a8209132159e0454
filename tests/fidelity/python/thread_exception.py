import threading


def work():
    raise RuntimeError("in thread")


thread = threading.Thread(target=work, name="Worker")
thread.start()
thread.join()
print("main goes on")
