print(sorted({"a", "b", "c"}), list({"x": 1, "y": 2}), hash(12345), hash(1.5))
