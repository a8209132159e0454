module.exports = { answer: require.main !== module ? __dirname.length : 0 };
