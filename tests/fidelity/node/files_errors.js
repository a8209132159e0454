const fs = require('fs');
for (const path of ['missing', '/nonexistent/x', '.']) {
  try {
    fs.readFileSync(path);
  } catch (error) {
    console.log(error.code, error.message, error.syscall, error.errno);
  }
}
