print(sys.argv)
