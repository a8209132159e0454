console.log('before');
process.exit(3);
