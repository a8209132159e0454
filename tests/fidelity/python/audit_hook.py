import sys
seen = []
sys.addaudithook(lambda event, args: seen.append(event))
open("/dev/null").close()
print("open" in seen)
