console.log('never');
let x = 5 5;
