console.log('one is loaded');
export default 1;
export let count = 0;
export function add() { count++; }
