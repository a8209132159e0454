export const answer = 42;
export default () => answer;
