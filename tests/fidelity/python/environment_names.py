import os
print(list(os.environ))
