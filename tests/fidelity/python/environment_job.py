import os
print(os.environ["GREETING"], os.getenv("EMPTY"), os.environb[b"GREETING"])
print(os.popen is not None, len(os.environ), list(os.environ)[-1])
