import tracemalloc
tracemalloc.start()
data = [bytes(1000) for _ in range(10)]
print(tracemalloc.get_traced_memory()[0] > 10000)
