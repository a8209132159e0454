import sys
sys.displayhook(5)
sys.displayhook(None)
print(_)
