print("x", file=5)
