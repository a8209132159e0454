import traceback
try:
    int("q")
except ValueError:
    traceback.print_exc()
print(traceback.format_exc())
