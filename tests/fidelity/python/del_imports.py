class Thing:
    def __del__(self):
        import json
        print(json)


thing = Thing()
