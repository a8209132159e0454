module.exports = { name: 'commonjs' };
