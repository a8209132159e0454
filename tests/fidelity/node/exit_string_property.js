process.exitCode = '9';
process.exit();
