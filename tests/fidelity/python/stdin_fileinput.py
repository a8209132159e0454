import fileinput
for line in fileinput.input():
    print(fileinput.lineno(), line, end="")
