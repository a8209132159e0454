raise ValueError("a\0b")
