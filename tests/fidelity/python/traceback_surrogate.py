raise ValueError("\udc80 lone")
