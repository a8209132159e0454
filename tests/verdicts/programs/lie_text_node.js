// expect: error exit=134
// weight: 1
// prints what V8 prints at the end of its heap, and its code

console.error('FATAL ERROR: Reached heap limit Allocation failed - ' +
              'JavaScript heap out of memory');
process.exit(134);
