import sys
sys.stderr = None
sys.exit("lost or not")
