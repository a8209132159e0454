import second
x = 1
