import sys
events = []


def trace(frame, event, arg):
    events.append((event, frame.f_code.co_name))
    return trace


def f():
    return 1


sys.settrace(trace)
f()
sys.settrace(None)
print(events)
