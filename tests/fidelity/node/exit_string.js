process.exit('7');
