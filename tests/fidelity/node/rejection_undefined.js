(async () => { throw undefined; })();
