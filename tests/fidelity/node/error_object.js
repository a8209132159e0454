throw { toString() { return 'object text'; }, n: 1 };
