import contextlib


@contextlib.contextmanager
def manager():
    try:
        yield
    finally:
        print("left")


m = manager()
m.__enter__()
print("end")
