import gc
gc.collect()
gc.callbacks.append(lambda phase, info: print(phase, sorted(info)))
print("end")
