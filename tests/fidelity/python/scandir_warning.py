import os
import warnings

warnings.simplefilter("always")
entries = os.scandir("/usr")
next(entries)
