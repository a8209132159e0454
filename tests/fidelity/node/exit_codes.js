process.on('exit', (code) => {
  console.log(code, process.exitCode);
  process.exitCode = -1;
});
for (const code of ['12', 'x', 1.5, null, undefined, 300]) {
  try {
    process.exitCode = code;
    console.log(process.exitCode);
  } catch (error) {
    console.log(error.code, error.message);
  }
}
