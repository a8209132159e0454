// expect: seccomp_violation
// says: inotify_init1
// weight: 2
// watches a directory

require('fs').watch('/tmp', () => {});
