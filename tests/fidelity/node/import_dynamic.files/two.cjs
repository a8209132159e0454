exports.two = 2;
exports.name = __filename;
