// expect: signaled signal=SIGABRT
// row: 15
// weight: 2
// gives up

process.abort();
