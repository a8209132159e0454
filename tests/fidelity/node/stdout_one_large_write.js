process.stdout.write('0123456789'.repeat(50000));
