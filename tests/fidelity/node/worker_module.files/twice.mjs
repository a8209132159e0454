export const twice = (x) => 2 * x;
