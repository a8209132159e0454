x = 1
if x is 1:
    print("literal")
assert (x, "always true")
