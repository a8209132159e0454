// expect: file_exceeded exit=1
// without hook: error exit=1
// limits: {"open_files": 64}
// weight: 1
// opens until it is refused

for (;;) {
    require('fs').openSync('/dev/null');
}
