import sys
print(sys.flags)
print(sys.dont_write_bytecode, sys._xoptions, sys.warnoptions)
