import os
found = []
for number in range(64):
    try:
        os.fstat(number)
    except OSError:
        continue
    found.append((number, os.get_inheritable(number)))
print(found)
