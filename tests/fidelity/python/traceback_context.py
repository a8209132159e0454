try:
    int("x")
except ValueError:
    [][1]
