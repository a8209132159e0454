import threading
local = threading.local()
local.value = "main"


def work():
    print(hasattr(local, "value"))


thread = threading.Thread(target=work)
thread.start()
thread.join()
print(local.value)
