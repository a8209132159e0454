import logging
logging.warning("root warning %s", 5)
logging.info("not shown")
logging.getLogger("a.b").error("named")
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("with a traceback")
