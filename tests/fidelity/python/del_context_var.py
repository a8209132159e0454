import contextvars


class Thing:
    def __del__(self):
        print("deleted")


variable = contextvars.ContextVar("variable")
variable.set(Thing())
print("end")
