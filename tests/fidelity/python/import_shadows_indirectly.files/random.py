print("shadowed random imported by", __name__)


class Random:
    pass
