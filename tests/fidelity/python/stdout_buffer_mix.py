import sys
print("text")
sys.stdout.buffer.write(b"bytes first\n")
sys.stdout.flush()
sys.stdout.buffer.write(bytes([0, 255, 254]))
