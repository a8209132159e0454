import sys
try:
    sys.exit(5)
except SystemExit as error:
    print("caught", error.code)
