import subprocess
import sys
print(subprocess.check_output([sys.executable, "-c",
                               "print(input().upper())"],
                              input="text", text=True))
