const url = new URL('https://user@example.com:8080/a/b?x=1&y=é#hash');
console.log(url, [...url.searchParams], url.href);
try {
  new URL('nope');
} catch (error) {
  console.log(error.code, error.message);
}
