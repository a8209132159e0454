import logging
import sys
logging.basicConfig(stream=sys.stdout, level=logging.DEBUG,
                    format="%(levelname)s:%(name)s:%(filename)s:%(lineno)d:"
                           "%(processName)s:%(threadName)s:%(message)s")
logging.debug("details")
