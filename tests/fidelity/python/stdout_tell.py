import sys
for stream in (sys.stdin, sys.stdout, sys.stderr):
    try:
        print(stream.tell())
    except OSError as error:
        print(repr(error))
