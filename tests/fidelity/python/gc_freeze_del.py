import gc


class Item:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


first = Item(1)
gc.freeze()
second = Item(2)
