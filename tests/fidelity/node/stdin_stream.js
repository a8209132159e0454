let size = 0;
process.stdin.on('data', (chunk) => { size += chunk.length; });
process.stdin.on('end', () => console.log('bytes', size));
