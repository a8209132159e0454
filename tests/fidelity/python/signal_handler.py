import os
import signal


def handler(number, frame):
    print("got", signal.Signals(number).name, frame.f_code.co_name)


signal.signal(signal.SIGUSR2, handler)
os.kill(os.getpid(), signal.SIGUSR2)
print("end")
