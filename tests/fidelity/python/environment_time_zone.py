import datetime
import time
print(time.tzname, time.timezone, time.daylight)
print(time.strftime("%H:%M %Z", time.localtime(0)))
print(datetime.datetime.fromtimestamp(86400 * 200))
