import signal


class Late(Exception):
    pass


def handler(number, frame):
    raise Late("too late")


signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
while True:
    pass
