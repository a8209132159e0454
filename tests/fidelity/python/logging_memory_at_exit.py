import logging.handlers
import sys
target = logging.StreamHandler(sys.stdout)
handler = logging.handlers.MemoryHandler(100, target=target)
logging.getLogger().addHandler(handler)
logging.warning("flushed by the shutdown")
