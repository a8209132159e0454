import io
import sys
sys.stdout = io.StringIO()
print("captured")
sys.__stdout__.write("direct " + repr(sys.stdout.getvalue()))
