import sys
sys.excepthook = lambda *args: sys.exit(8)
raise ValueError("x")
