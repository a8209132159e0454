import collections
collections.parked = open(1, "w", closefd=False)
collections.parked.write("parked\n")
