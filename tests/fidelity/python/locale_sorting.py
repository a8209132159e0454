import locale
print(sorted(["b", "ä", "a", "Z"], key=locale.strxfrm))
print(f"{1234567.891:n}", locale.localeconv()["decimal_point"])
