const { callsites } = require('util');
console.log(Error.stackTraceLimit, typeof Error.prepareStackTrace, callsites);
Error.prepareStackTrace = (error, frames) => frames.map((frame) => [
  frame.getFunctionName(), frame.getFileName(), frame.getLineNumber(),
  frame.getColumnNumber(), frame.isNative(), frame.isToplevel(),
  frame.isAsync()].join(' '));
console.log(new Error('x').stack);
setTimeout(() => console.log(new Error('x').stack), 1);
