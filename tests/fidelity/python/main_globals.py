print(list(globals()))
print(__name__, __file__, __doc__, __package__, __spec__, __cached__,
      __annotations__, type(__loader__).__name__, __loader__.name,
      __loader__.path, type(__builtins__).__name__)
