import logging

logging.lastResort.flush = lambda: print("flushed")
