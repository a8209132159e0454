import csv


class Thing:
    def __del__(self):
        print("in a module imported late")


csv.parked = Thing()
