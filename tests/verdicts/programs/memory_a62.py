# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 0}
# case: A62
# weight: 20
# an 80 MB list below 64 MB: the hook's code

a = [0] * 10**7
print(len(a))
