try:
    {}["key"]
except KeyError as error:
    raise ValueError("bad") from error
