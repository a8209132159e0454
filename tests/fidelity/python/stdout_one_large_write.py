import sys
sys.stdout.write("0123456789" * 30000)
