x = __name__
print(x, __file__)
