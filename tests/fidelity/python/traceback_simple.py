def divide(x):
    return 1 / x


print("a")
divide(0)
