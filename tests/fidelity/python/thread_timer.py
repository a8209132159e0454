import threading
threading.Timer(0.05, print, ["timer"]).start()
print("main")
