const { once, EventEmitter, getEventListeners } = require('events');
const { setTimeout: sleep } = require('timers/promises');
const { readFile } = require('fs/promises');
const controller = new AbortController();
const { signal } = controller;
signal.onabort = (event) => console.log(event.type, event.target === signal);
signal.addEventListener('abort', () => console.log('once'), { once: true });
const tell = (name) => (error) =>
  console.log(name, error.name, error.code, error.message, error.cause);
once(new EventEmitter(), 'x', { signal }).catch(tell('once'));
sleep(1e6, null, { signal }).catch(tell('sleep'));
readFile('/dev/null', { signal }).catch(tell('readFile'));
controller.abort('a reason');
controller.abort('not this one');
console.log(signal.aborted, signal.reason, getEventListeners(signal,
  'abort').length);
try {
  AbortSignal.abort().throwIfAborted();
} catch (error) {
  console.log(error.name, error.code, error instanceof DOMException);
}
AbortSignal.timeout(1).addEventListener('abort', (event) =>
  console.log(event.target.reason.name));
setTimeout(() => {}, 20);
