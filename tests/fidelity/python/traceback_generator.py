def items():
    yield 1
    raise LookupError("in generator")


for item in items():
    print(item)
