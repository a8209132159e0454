process.reallyExit({ valueOf() { console.log('asked'); return 5; } });
