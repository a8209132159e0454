def f(n):
    try:
        raise ValueError(n)
    except ValueError:
        if n:
            f(n - 1)
        raise


f(2)
