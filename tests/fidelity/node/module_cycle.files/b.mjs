import { a } from './a.mjs';
console.log(a());
export const b = 'b';
