import subprocess
import sys
done = subprocess.run([sys.executable, "-c", "print(1); exit(4)"],
                      capture_output=True, text=True)
print(done.returncode, repr(done.stdout), repr(done.stderr))
