from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    print(repr(pool.submit(int, "x").exception()))
    pool.submit(int, "y").result()
