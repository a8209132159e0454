# expect: success
# output: 499999500000\n
# weight: 15
# honest computing

print(sum(range(1000000)))
