from . import other
value = other.number + 1
