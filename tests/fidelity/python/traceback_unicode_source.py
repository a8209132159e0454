имя = "значение"
print(имя)
raise ValueError(имя + " 😀")
