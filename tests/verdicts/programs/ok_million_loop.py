# expect: success
# output: 499999500000\n
# honest computing

print(sum(range(1000000)))
