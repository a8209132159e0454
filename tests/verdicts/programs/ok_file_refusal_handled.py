# expect: success
# output: 24\n
# limits: {"open_files": 64}
# weight: 20
# a program that copes with a refusal has succeeded

files = []
try:
    while True:
        files.append(open("/dev/null"))
except OSError as e:
    files.clear()
    print(e.errno)
