import gc
import os

out = open(os.dup(1), "w")
out.write("the answer is 42\n")
gc.freeze()
