from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
future = pool.submit(print, "late")
