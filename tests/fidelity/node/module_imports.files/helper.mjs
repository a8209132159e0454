export let value = 1;
export function bump() {
  value++;
}
