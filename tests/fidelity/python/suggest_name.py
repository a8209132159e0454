lenght = 5
print(lenghth)
