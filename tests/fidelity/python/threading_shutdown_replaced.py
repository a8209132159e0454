import threading

original = threading._shutdown


def shutdown():
    print("threads are asked to end")
    original()


threading._shutdown = shutdown
