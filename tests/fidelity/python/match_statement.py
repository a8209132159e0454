def kind(x):
    match x:
        case {"a": int(n), **rest}:
            return n, rest
        case [first, *_] | (first, *_):
            return first
        case str() as s if s.isupper():
            return s.lower()
        case _:
            return None


print(kind({"a": 1, "b": 2}), kind([3, 4]), kind("X"), kind(5.0))
