import { later } from './a.mjs';
console.log(later());
