# coding: ascii
print("é")
