# expect: file_exceeded exit=1
# without hook: error exit=1
# limits: {"open_files": 100}
# weight: 12
# 1.5 times the open files

files = [open("/dev/null") for _ in range(150)]
