import threading


class Thing:
    def __del__(self):
        print("deleted")


thing = Thing()
event = threading.Event()
threading.Thread(target=event.wait, daemon=True).start()
print("end")
