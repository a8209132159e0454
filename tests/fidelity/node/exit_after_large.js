process.stdout.write('a'.repeat(60000) + '\n');
process.stderr.write('b'.repeat(60000) + '\n');
process.exit(12);
