import os
print("never flushed")
os._exit(5)
