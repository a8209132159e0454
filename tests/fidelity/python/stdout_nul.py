print("a\0b", end="\0")
