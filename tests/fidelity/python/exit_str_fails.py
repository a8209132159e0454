class Bad:
    def __str__(self):
        raise ValueError("no text")


raise SystemExit(Bad())
