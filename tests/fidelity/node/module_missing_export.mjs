import { nope } from './helper.mjs';
