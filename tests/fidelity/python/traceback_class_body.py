class Broken:
    x = 1
    y = x.missing
