print("\d")
