require('child_process').execFileSync(process.execPath, ['-e', '1']);
