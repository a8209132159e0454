try:
    1 / 0
finally:
    undefined_name
