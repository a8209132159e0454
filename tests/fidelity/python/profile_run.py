import cProfile
import pstats
profile = cProfile.Profile()
profile.enable()
sorted(range(5))
profile.disable()
print(sorted(name[2] for name in pstats.Stats(profile).stats)[0] != "")
