class Thing:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


b = Thing(1)
a = Thing(2)
_hidden = Thing(3)
in_list = [Thing(4)]
in_dict = {"x": Thing(5)}
print("end")
