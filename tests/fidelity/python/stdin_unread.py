print("stdin is ignored")
