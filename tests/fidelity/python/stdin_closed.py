import sys
sys.stdin.close()
input()
