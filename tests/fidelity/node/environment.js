for (const name of Object.keys(process.env).sort()) {
  console.log(name, '=', process.env[name]);
}
