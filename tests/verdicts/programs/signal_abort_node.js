// expect: signaled signal=SIGABRT
// row: 15
// weight: 4
// gives up

process.abort();
