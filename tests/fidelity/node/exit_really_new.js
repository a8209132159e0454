try {
  new process.reallyExit(6);
} catch (error) {
  console.log(error.name);
}
process.reallyExit(1.9);
