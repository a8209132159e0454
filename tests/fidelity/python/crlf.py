print("a")
if True:
    print("b")
1/0
