try:
    raise TypeError("bad type")
except TypeError as error:
    error.add_note("first note")
    error.add_note("second note\nwith a line")
    raise
