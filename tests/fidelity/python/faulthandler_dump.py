import faulthandler


def f():
    faulthandler.dump_traceback()


f()
