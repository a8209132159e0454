/*
 * sbx_lua_stdio.c: hidden stand-ins for libc's stdin, stdout and stderr.
 *
 * Runs in every process that loads the module.  Debian's liblua5.4.a is made
 * for programs (PIE), not for shared objects: these three data symbols are all
 * that the linker refuses.  The build renames them in a private copy of
 * the archive, and here they get their values back.  No policy reaches them
 * (there is no io library), but Lua's own code refers to them.
 */

#include <stdio.h>

#define HIDDEN  __attribute__((visibility("hidden")))

HIDDEN extern FILE *sbx_lua_stdin, *sbx_lua_stdout, *sbx_lua_stderr;

FILE *sbx_lua_stdin, *sbx_lua_stdout, *sbx_lua_stderr;


__attribute__((constructor)) static void
set_streams(void)
{
    sbx_lua_stdin = stdin;
    sbx_lua_stdout = stdout;
    sbx_lua_stderr = stderr;
}
