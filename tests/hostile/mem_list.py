# expect: memory_exceeded hook
# by small pieces

x = []
while True:
    x.append(bytes(1000))
