def f():
    raise KeyboardInterrupt("by hand")


f()
