import { text } from 'node:stream/consumers';
import { readFile } from 'node:fs/promises';
console.log(JSON.parse(await text(process.stdin)));
console.log((await readFile('/dev/stdin')).length);
