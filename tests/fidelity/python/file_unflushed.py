f = open("out.txt", "w")
f.write("kept in the buffer\n")
g = open(1, "w", closefd=False)
g.write("to stdout by another way\n")
