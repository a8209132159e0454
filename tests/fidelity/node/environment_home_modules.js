console.log(require('found_at_home'));
