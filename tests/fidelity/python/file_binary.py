with open("data.bin", "wb") as f:
    f.write(bytes(range(256)))
with open("data.bin", "rb") as f:
    data = f.read()
print(len(data), data[250:], f.closed)
