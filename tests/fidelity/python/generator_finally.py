def numbers():
    try:
        yield 1
        yield 2
    finally:
        print("closed")


generator = numbers()
next(generator)
print("end")
