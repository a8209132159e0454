import inspect


def f(a, b=2):
    """Docs."""
    return a


print(inspect.getsource(f), inspect.signature(f), inspect.getfile(f))
print(inspect.stack()[0].code_context, inspect.getmodule(f).__name__)
