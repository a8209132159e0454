import os
import warnings

warnings.filters[:] = [("always", None, Warning, None, 0)]
entries = os.scandir("/usr")
next(entries)
