import sys


class Tee:
    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(text)

    def flush(self):
        pass


sys.stdout = sys.__stdout__ = Tee(sys.stdout)
print('answer')
