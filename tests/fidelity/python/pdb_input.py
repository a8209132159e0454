import pdb
x = 5
pdb.set_trace()
print("after")
