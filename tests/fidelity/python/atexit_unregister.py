import atexit


@atexit.register
def gone():
    print("never")


atexit.unregister(gone)
print(atexit._ncallbacks())
