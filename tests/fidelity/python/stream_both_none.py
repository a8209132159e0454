import sys
o = sys.stdout
sys.stdout = sys.__stdout__ = None
o.write('42')
