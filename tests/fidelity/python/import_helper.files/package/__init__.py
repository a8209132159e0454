print("package runs", __path__)
