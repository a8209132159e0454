# expect: error exit=1
# stderr: SyntaxError
# no program

print(
