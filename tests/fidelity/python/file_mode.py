import os
with open("plain", "w"):
    pass
os.mkdir("directory")
print(oct(os.stat("plain").st_mode), oct(os.stat("directory").st_mode))
