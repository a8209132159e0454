import sys
print(sys.path)
print([type(hook).__name__ for hook in sys.path_hooks])
print([getattr(finder, "__name__", type(finder).__name__)
       for finder in sys.meta_path])
