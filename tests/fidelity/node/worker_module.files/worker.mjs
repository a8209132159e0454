import { parentPort, workerData } from 'node:worker_threads';
const { twice } = await import('./twice.mjs');
parentPort.postMessage(twice(workerData));
