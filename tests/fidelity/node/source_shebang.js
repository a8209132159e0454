#!/usr/bin/env node
console.log('after the shebang');
