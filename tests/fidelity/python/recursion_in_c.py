import json
nested = []
for _ in range(100000):
    nested = [nested]
try:
    json.dumps(nested)
except RecursionError as error:
    print(error)
try:
    repr(nested)
except RecursionError as error:
    print(error)
