for name in ("utf-16", "latin-1", "cp1252", "shift_jis", "idna", "rot13"):
    try:
        print(name, "é".encode(name))
    except (UnicodeError, LookupError) as error:
        print(name, error)
import codecs
print(codecs.encode("abc", "rot13"), codecs.decode(b"eA==", "base64"))
