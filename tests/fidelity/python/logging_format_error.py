import logging
logging.warning("%d", "not a number")
