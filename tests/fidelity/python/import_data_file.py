import pathlib
print(pathlib.Path("data/table.csv").read_text())
