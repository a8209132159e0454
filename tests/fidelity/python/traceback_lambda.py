(lambda x: (lambda y: y.nope)(x))(3)
