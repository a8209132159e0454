// expect: success
// output: clean
// nothing of the server's environment

const known = ['PATH', 'HOME', 'LANG', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS',
    'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS'];
const more = Object.keys(process.env).filter((n) => !known.includes(n));
console.log(more.length ? 'breach' : 'clean', ...more);
