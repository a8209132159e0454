import gc
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.garbage)
print(gc.collect() >= 0, gc.get_referents(()))
