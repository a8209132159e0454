console.log(process.argv.slice(1), process.argv0, process.execArgv,
  process.execPath, process.title);
