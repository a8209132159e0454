import warnings
warnings.simplefilter("always")
f = open("x", "w")
f = None
g = open("y", "w")
print("end")
