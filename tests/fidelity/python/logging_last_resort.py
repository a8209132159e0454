import logging
logging.getLogger("quiet").addHandler(logging.NullHandler())
logging.getLogger("quiet").error("to nobody")
logging.getLogger().handlers.clear()
logging.getLogger("loud").error("to the last resort")
