const print = (error) => console.log(error.name, error.code, error.message);
(async () => {
  const one = await import('./one.mjs');
  one.add();
  console.log(one, one === await import('./one.mjs'), one.count);
  console.log(await import('./two.cjs'));
  console.log(Object.keys(await import('fs')).length ===
              Object.keys(await import('node:fs')).length);
  console.log((await import('data:text/javascript,export default 5')).default);
  await import('./throws.mjs').catch(print);
  await import('./throws.mjs').catch(print);
  await import('./syntax.mjs').catch(print);
  await import('./none.mjs').catch(print);
  await import('none').catch(print);
  await import('https://example.com/x.mjs').catch(print);
  await import('node:none').catch(print);
})();
