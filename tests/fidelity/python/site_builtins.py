print(exit, quit, type(copyright).__name__, type(license).__name__,
      type(help).__name__)
