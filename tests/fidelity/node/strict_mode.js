'use strict';
undeclared = 5;
