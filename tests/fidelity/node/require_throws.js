require('./broken');
