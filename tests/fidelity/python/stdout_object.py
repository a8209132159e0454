import sys


class Upper:
    def write(self, text):
        sys.__stdout__.write(text.upper())

    def flush(self):
        pass


sys.stdout = Upper()
print("loud")
