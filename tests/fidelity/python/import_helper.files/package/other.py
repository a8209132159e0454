number = 41
