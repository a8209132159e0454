process.stdout.write('0123456789'.repeat(20000));
process.exit(1);
