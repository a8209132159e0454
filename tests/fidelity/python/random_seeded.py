import random
random.seed(42)
print(random.random(), random.randint(1, 100), random.sample(range(50), 5))
random.seed("text")
print(random.shuffle(items := list(range(8))), items)
