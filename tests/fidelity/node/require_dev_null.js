// an empty module, whatever a zygote was started with
console.log(require('/dev/null'), Object.keys(require.cache).length,
  process._preload_modules);
