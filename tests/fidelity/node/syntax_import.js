import fs from 'fs';
