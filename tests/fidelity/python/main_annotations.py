x: int = 3
y: "undefined"
print(__annotations__)
