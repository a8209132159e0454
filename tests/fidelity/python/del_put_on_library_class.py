import json


json.JSONDecoder.__del__ = lambda self: print("decoder goes")
