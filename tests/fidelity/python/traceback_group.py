def one():
    raise ValueError(1)


errors = []
for f in (one, lambda: {}["x"]):
    try:
        f()
    except Exception as error:
        errors.append(error)
raise ExceptionGroup("several", errors)
