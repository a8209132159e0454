import helper
print("end", helper.thing is not None)
