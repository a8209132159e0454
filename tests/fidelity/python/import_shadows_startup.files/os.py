print("never imported")
