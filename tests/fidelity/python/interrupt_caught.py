try:
    raise KeyboardInterrupt
except KeyboardInterrupt:
    print("caught")
