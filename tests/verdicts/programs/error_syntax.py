# expect: error exit=1
# stderr: SyntaxError
# weight: 20
# no program

print(
