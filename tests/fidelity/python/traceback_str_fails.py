class Odd(Exception):
    def __str__(self):
        raise RuntimeError


raise Odd
