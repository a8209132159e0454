value = 3
assert value == 4, f"value is {value}"
