import logging


class Handler(logging.Handler):
    def emit(self, record):
        print("record", record.getMessage())

    def __del__(self):
        print("deleted")


logging.getLogger("mine").addHandler(Handler())
logging.getLogger("mine").warning("hello")
