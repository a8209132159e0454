from first import x
