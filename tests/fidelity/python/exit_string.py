import sys
sys.exit("a message\nof two lines")
