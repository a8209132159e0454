console.log(process.cwd(), process.version, process.platform, process.arch);
console.log(process.versions, process.release.name, process.exitCode);
console.log(process.umask().toString(8), process.argv.length,
  process.config.variables.napi_build_version);
