# expect: timeout cpu
# limits: {"cpu_time": 150, "timeout": 30000}
# says: CPU time limit of 150ms exceeded
# weight: 1
# one operation of C that takes long

x = 7 ** (10 ** 7)
print(len(str(x % 10 ** 9)))
while True:
    x = x * x % (10 ** 100000)
