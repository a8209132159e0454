import { b } from './b.mjs';
export function a() { return 'a'; }
export const later = () => b;
