# expect: file_exceeded exit=1
# row: 14
# without hook: error exit=1
# stderr: Too many open files
# weight: 8
# opens until it is refused

files = []
while True:
    files.append(open("/dev/null"))
