import threading

del threading._shutdown
