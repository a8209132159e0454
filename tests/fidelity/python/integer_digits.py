print(len(str(10 ** 4299)))
print(10 ** 5000)
