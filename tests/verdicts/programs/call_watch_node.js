// expect: seccomp_violation
// says: inotify_init1
// weight: 4
// watches a directory

require('fs').watch('/tmp', () => {});
