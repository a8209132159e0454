# expect: success
# output: 6\n
# stdin: 1 2 3\n
# weight: 20
# reads what it is given

print(sum(map(int, input().split())))
