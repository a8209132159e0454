process.exit(1000);
