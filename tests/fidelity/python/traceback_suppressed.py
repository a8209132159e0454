try:
    int("x")
except ValueError:
    raise RuntimeError("only this") from None
