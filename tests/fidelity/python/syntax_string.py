x = "no end
