import random
print(random.__file__, random.choice([1]))
