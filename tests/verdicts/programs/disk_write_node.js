// expect: disk_exceeded exit=1
// limits: {"disk": "256k"}
// weight: 1
// files until there is no room

for (let i = 0; ; i++) {
    require('fs').writeFileSync('f' + i, 'x'.repeat(8192));
}
