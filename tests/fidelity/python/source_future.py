from __future__ import annotations


def f(x: undefined) -> also_undefined:
    pass


print(f.__annotations__)
