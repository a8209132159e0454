undeclared = 5;
