process.stdin.on('readable', () => {
  let chunk;
  while ((chunk = process.stdin.read(4)) !== null) {
    console.log(JSON.stringify(String(chunk)));
  }
  const rest = process.stdin.read();
  if (rest !== null) {
    console.log('rest', JSON.stringify(String(rest)));
  }
});
process.stdin.on('end', () => console.log('end'));
process.stdin.on('close', () => console.log('close'));
