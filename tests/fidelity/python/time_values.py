import datetime
import time
print(time.tzname, time.gmtime(0), datetime.datetime.fromtimestamp(0))
print(time.process_time() < 5, time.monotonic() > 0, time.time() > 1e9)
