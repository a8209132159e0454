import builtins
import weakref


class Item:
    pass


item = Item()
builtins.kept = weakref.ref(item, lambda ref: print("gone"))
