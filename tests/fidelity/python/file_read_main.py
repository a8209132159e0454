with open(__file__) as f:
    print(f.read())
