exports.name = __filename;
