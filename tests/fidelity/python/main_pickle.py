import pickle


class Point:
    def __init__(self, x):
        self.x = x


data = pickle.dumps(Point(3))
print(b"__main__" in data, pickle.loads(data).x)
