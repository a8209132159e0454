/*
 * sbx_main.c: deer-flow, the command: one table of subcommands.
 *
 * The same binary, executed again, is also the slots' init and the exec zygote;
 * those two names are not for people.
 */

#include <stdio.h>
#include <string.h>

#include "sbx_cmd.h"
#include "sbx_slot.h"
#include "sbx_zygote.h"


static int
print_version(int argc, char **argv)
{
    (void) argc;
    (void) argv;
    printf("deer-flow %s\n", SBX_VERSION);

    return 0;
}


static int
exec_zygote(int argc, char **argv)
{
    (void) argc;
    (void) argv;

    return sbx_exec_zygote_main();
}


static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *help;       /* NULL: not for people */
} commands[] = {
    { "run", sbx_cmd_run, "run FILE in the sandbox, exit as it did" },
    { "explain", sbx_cmd_explain,
      "show limits, terms and layers, run nothing" },
    { "calibrate", sbx_cmd_calibrate,
      "run FILE with high limits, propose limits for it" },
    { "check", sbx_cmd_check, "show what protects a run on this host" },
    { "serve", sbx_cmd_serve, "a supervisor on its own, for sandbox_pass" },
    { "version", print_version, "print the version" },
    { "supervise", sbx_cmd_supervise, NULL },
    { SBX_SLOT_INIT, sbx_slot_init_main, NULL },
    { SBX_ZYGOTE_EXEC, exec_zygote, NULL }
};

#define NCOMMANDS  (sizeof(commands) / sizeof(commands[0]))


static void
print_usage(FILE *stream)
{
    size_t i;

    fprintf(stream, "usage: deer-flow COMMAND [...]\n\n");

    for (i = 0; i < NCOMMANDS; i++) {
        if (commands[i].help != NULL) {
            fprintf(stream, "  %-9s %s\n", commands[i].name,
                    commands[i].help);
        }
    }
}


int
main(int argc, char **argv)
{
    size_t i;

    for (i = 0; argc > 1 && i < NCOMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].main(argc - 1, argv + 1);
        }
    }

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        return print_version(argc, argv);
    }

    if (argc == 2 && (strcmp(argv[1], "--help") == 0
                      || strcmp(argv[1], "help") == 0))
    {
        print_usage(stdout);
        return 0;
    }

    if (argc > 1) {
        fprintf(stderr, "deer-flow: no such command: %s\n", argv[1]);
    }

    print_usage(stderr);

    return SBX_EXIT_USAGE;
}
