class Thing:
    def __bool__(self):
        raise ValueError("no truth")


class Iterator:
    def __iter__(self):
        return self

    def __next__(self):
        return Thing()


try:
    any(Iterator())
except ValueError as error:
    print(error)
