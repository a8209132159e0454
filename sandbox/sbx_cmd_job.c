/*
 * sbx_cmd_job.c: options of `run` and `explain` → a job.  One option for each
 * row of the limits table.  Runs in the deer-flow command.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_cmd.h"
#include "sbx_log.h"

enum { OPT_LANGUAGE = 256, OPT_STDIN, OPT_JSON, OPT_ENV, OPT_NAME, OPT_SOFT,
       OPT_PROC, OPT_CONNECT, OPT_ZYGOTE, OPT_HELP, OPT_LIMIT };

static const struct option fixed[] = {
    { "language", required_argument, NULL, OPT_LANGUAGE },
    { "stdin", required_argument, NULL, OPT_STDIN },
    { "json", no_argument, NULL, OPT_JSON },
    { "env", required_argument, NULL, OPT_ENV },
    { "name", required_argument, NULL, OPT_NAME },
    { "memory-mode", required_argument, NULL, OPT_SOFT },
    { "proc", required_argument, NULL, OPT_PROC },
    { "connect", required_argument, NULL, OPT_CONNECT },
    { "zygote", no_argument, NULL, OPT_ZYGOTE },
    { "help", no_argument, NULL, OPT_HELP }
};

#define NFIXED  (sizeof(fixed) / sizeof(fixed[0]))

static char names[SBX_LIMIT_COUNT][32];
static struct option options[NFIXED + SBX_LIMIT_COUNT + 1];


static void
make_options(void)
{
    int i;
    char *p;

    memcpy(options, fixed, sizeof(fixed));

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "%s", sbx_limits[i].name);

        for (p = names[i]; *p; p++) {
            if (*p == '_') {
                *p = '-';
            }
        }

        options[NFIXED + i] = (struct option) { names[i], required_argument,
                                                NULL, OPT_LIMIT + i };
    }
}


static void
print_help(void)
{
    int i;
    char text[32];

    printf("usage: deer-flow run|explain|calibrate [OPTIONS] FILE [ARGS...]"
           "\n\n"
           "  --language NAME   python, node (default: by the file's name)\n"
           "  --stdin FILE      the program's input, - for ours "
           "(default: empty)\n"
           "  --env NAME=VALUE  for the program, repeatable\n"
           "  --name NAME       main file's name inside\n"
           "  --memory-mode M   hard (default) or soft\n"
           "  --proc P          on (default) or empty\n"
           "  --connect ADDR    unix:PATH of a running supervisor\n"
           "  --zygote          warm an interpreter first\n"
           "  --json            print the verdict as JSON\n\nlimits:\n");

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        printf("  --%-16s%s (default %s)\n", names[i], sbx_limits[i].meaning,
               sbx_limits[i].initial == 0 ? "as timeout"
               : sbx_limit_format(i, sbx_limits[i].initial, text,
                                  sizeof(text)));
    }
}


/* The whole of a file, "-" for stdin; NULL with a message. */
static char *
read_file(const char *path, size_t *len)
{
    int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    char *buf = NULL, *grown;
    size_t cap = 0;
    ssize_t n = -1;

    *len = 0;

    while (fd >= 0) {

        if (*len == cap) {
            cap = cap ? 2 * cap : 65536;
            grown = realloc(buf, cap);
            if (grown == NULL) {
                n = -1;
                break;
            }
            buf = grown;
        }

        n = read(fd, buf + *len, cap - *len);

        if (n <= 0) {
            break;
        }

        *len += (size_t) n;
    }

    if (n < 0) {
        fprintf(stderr, "deer-flow: cannot read %s: %s\n", path,
                strerror(errno));
        free(buf);
        buf = NULL;
    }

    if (fd >= 0) {
        close(fd);
    }

    return buf;
}


static sbx_str_t
str_of(const char *s)
{
    return (sbx_str_t) { s, strlen(s) };
}


static int
mistake(const char *what, const char *value)
{
    fprintf(stderr, "deer-flow: %s: %s\n", what, value);

    return SBX_EXIT_USAGE;
}


/* A step's name says where, unless it was the user who erred. */
void
sbx_cmd_complain(const sbx_err_t *err)
{
    int named = err->step != SBX_STEP_CONFIG;

    fprintf(stderr, "deer-flow: %s%s%s%s%s\n",
            named ? sbx_step_name(err->step) : "", named ? ": " : "",
            err->text, err->errnum ? ": " : "",
            err->errnum ? strerror(err->errnum) : "");
}


static int
set_limit(sbx_job_t *job, int id, const char *text)
{
    char what[80], least[32], most[32];

    if (sbx_limit_parse(id, str_of(text), 0, &job->limits[id]) == 0) {
        return 0;
    }

    snprintf(what, sizeof(what), "--%s: not a value from %s to %s", names[id],
             sbx_limit_format(id, sbx_limits[id].min, least, sizeof(least)),
             sbx_limit_format(id, sbx_limits[id].max, most, sizeof(most)));

    return mistake(what, text);
}


static int
set_option(sbx_cmd_job_t *cj, int opt, const char *arg)
{
    size_t len;
    const char *why;
    sbx_job_t *job = &cj->job;

    switch (opt) {

    case OPT_LANGUAGE:
        job->language = sbx_language_canonical(str_of(arg));
        return 0;

    case OPT_STDIN:
        free(cj->input);
        cj->input = read_file(arg, &len);
        job->cases[0].input = (sbx_str_t) { cj->input, len };
        return cj->input == NULL ? SBX_EXIT_USAGE : 0;

    case OPT_JSON:
        cj->json = 1;
        return 0;

    case OPT_ENV:
        why = sbx_env_check(str_of(arg));
        if (why == NULL && sbx_job_add_env(job, str_of(arg)) < 0) {
            why = "too many";
        }
        if (why == NULL) {
            return 0;
        }

        fprintf(stderr, "deer-flow: --env %s: %s\n", arg, why);
        return SBX_EXIT_USAGE;

    case OPT_NAME:
        job->name = str_of(arg);
        return 0;

    case OPT_SOFT:
        job->flags |= strcmp(arg, "soft") == 0 ? SBX_JOB_SOFT_MEMORY : 0;
        return strcmp(arg, "soft") == 0 || strcmp(arg, "hard") == 0
               ? 0 : mistake("--memory-mode: hard or soft", arg);

    case OPT_PROC:
        job->flags |= strcmp(arg, "empty") == 0 ? SBX_JOB_PROC_EMPTY : 0;
        return strcmp(arg, "empty") == 0 || strcmp(arg, "on") == 0
               ? 0 : mistake("--proc: on or empty", arg);

    case OPT_CONNECT:
        cj->connect = arg;
        return 0;

    case OPT_ZYGOTE:
        cj->zygote = 1;
        return 0;

    case OPT_HELP:
        print_help();
        return -1;

    default:
        break;
    }

    if (opt < OPT_LIMIT) {
        return SBX_EXIT_USAGE;
    }

    cj->given |= 1u << (opt - OPT_LIMIT);

    return set_limit(job, opt - OPT_LIMIT, arg);
}


static sbx_str_t
language_of(const char *file)
{
    const char *dot = strrchr(file, '.');

    if (dot != NULL && strcmp(dot, ".py") == 0) {
        return SBX_STR("python");
    }

    if (dot != NULL && (strcmp(dot, ".js") == 0 || strcmp(dot, ".mjs") == 0
                        || strcmp(dot, ".cjs") == 0))
    {
        return SBX_STR("node");
    }

    return (sbx_str_t) { NULL, 0 };
}


static int
set_program(sbx_cmd_job_t *cj, const char *file)
{
    size_t len;
    const char *base, *why;
    sbx_job_t *job = &cj->job;

    if (job->language.len == 0) {
        job->language = language_of(file);
    }

    if (job->language.len == 0) {
        return mistake("give --language, such as python or node; the name "
                       "does not tell", file);
    }

    base = strrchr(file, '/');
    base = base ? base + 1 : file;

    if (job->name.len == 0) {
        job->name = strcmp(base, "-") == 0 ? sbx_language_main(job->language)
                                           : str_of(base);
    }

    why = sbx_name_check(job->name);
    if (why != NULL) {
        return mistake("name of the program", why);
    }

    cj->code = read_file(file, &len);
    job->code = (sbx_str_t) { cj->code, len };

    return cj->code == NULL ? SBX_EXIT_USAGE : 0;
}


/* What getopt_long did not take.  A letter, of which we have none, is no word. */
static int
refuse_option(int opt, const char *word, const char *command)
{
    char letter[] = { '-', (char) optopt, '\0' };
    const char *what = "no such option, or more than one begins so";

    if (opt == ':') {
        what = "needs a value";

    } else if (optopt >= OPT_LANGUAGE) {
        what = "takes no value";

    } else if (optopt != 0) {
        word = letter;
    }

    fprintf(stderr, "deer-flow: %s: %s (deer-flow %s --help lists them)\n",
            what, word, command);

    return SBX_EXIT_USAGE;
}


int
sbx_cmd_job_parse(sbx_cmd_job_t *cj, int argc, char **argv)
{
    int opt, rc;

    memset(cj, 0, sizeof(*cj));
    sbx_job_init(&cj->job);
    make_options();
    optind = 1;
    opterr = 0;

    if (sbx_job_add_case(&cj->job, 0, SBX_STR("")) < 0) {
        return SBX_EXIT_USAGE;
    }

    while ((opt = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        if (opt == '?' || opt == ':') {
            return refuse_option(opt, argv[optind - 1], argv[0]);
        }

        rc = set_option(cj, opt, optarg);
        if (rc != 0) {
            return rc;
        }
    }

    if (optind >= argc) {
        fprintf(stderr, "usage: deer-flow %s [OPTIONS] FILE [ARGS...]\n",
                argv[0]);
        return SBX_EXIT_USAGE;
    }

    rc = set_program(cj, argv[optind++]);

    for ( /* void */ ; rc == 0 && optind < argc; optind++) {
        if (sbx_job_add_arg(&cj->job, str_of(argv[optind])) < 0) {
            return mistake("too many arguments", argv[optind]);
        }
    }

    if (cj->job.limits[SBX_LIMIT_CPU_TIME] == 0) {
        cj->job.limits[SBX_LIMIT_CPU_TIME] = cj->job.limits[SBX_LIMIT_TIMEOUT];
    }

    return rc;
}


void
sbx_cmd_job_clear(sbx_cmd_job_t *cj)
{
    sbx_job_clear(&cj->job);
    free(cj->code);
    free(cj->input);
}


int
sbx_cmd_conf(sbx_conf_t *conf, const sbx_str_t *language, sbx_err_t *err)
{
    unsigned i;

    if (sbx_conf_init(conf, NULL, err) < 0) {
        return -1;
    }

    conf->slots = 1;
    conf->standby = 0;
    conf->zygotes = 0;
    conf->checks = 0;
    conf->log_level = SBX_LOG_ERR;

    for (i = 0; language != NULL && i < conf->nruntimes; i++) {

        if (strlen(conf->runtimes[i].name) == language->len
            && memcmp(conf->runtimes[i].name, language->data, language->len)
               == 0)
        {
            /* self-test only what is used: swap it to the front */
            sbx_runtime_conf_t first = conf->runtimes[0];

            conf->runtimes[0] = conf->runtimes[i];
            conf->runtimes[i] = first;
            conf->nruntimes = 1;
            return 0;
        }
    }

    return language == NULL ? 0 : sbx_conf_no_language(conf, *language, err);
}
