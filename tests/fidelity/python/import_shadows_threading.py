import threading
print(threading.__file__)
from queue import Queue
print(Queue.__module__)
