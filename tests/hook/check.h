/*
 * check.h: TAP for the C programs that run under the hook, and their view of
 * its page.  Included by one file per program.
 */

#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_page.h"


static sbx_page_t *page;
static int checks, failures;


/* The hook has closed the descriptor; the mapping has the memfd's name. */
static void __attribute__((unused))
find_page(void)
{
    char line[512];
    unsigned long lo;
    static char buffer[BUFSIZ];
    FILE *f = fopen("/proc/self/maps", "r");

    /* stdio's own block would be charged in the middle of a test */
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (strstr(line, "/memfd:sbx-page") != NULL
            && sscanf(line, "%lx-", &lo) == 1)
        {
            page = (sbx_page_t *) lo;
        }
    }

    if (page == NULL) {
        printf("Bail out! no page\n");
        exit(1);
    }

    fclose(f);
}


/* Under limit 0 every allocation posts the thread's remainder first. */
static int64_t __attribute__((unused))
live(void)
{
    void *volatile p = malloc(0);

    free(p);
    return __atomic_load_n(&page->live, __ATOMIC_RELAXED);
}


static int __attribute__((unused))
check(int ok, const char *name)
{
    checks++;
    failures += !ok;
    printf("%s %d - %s\n", ok ? "ok" : "not ok", checks, name);
    fflush(stdout);

    return ok;
}


static int __attribute__((unused))
check_equal(int64_t got, int64_t wanted, const char *name)
{
    if (!check(got == wanted, name)) {
        printf("# got %" PRId64 ", wanted %" PRId64 "\n", got, wanted);
        return 0;
    }

    return 1;
}


static int __attribute__((unused))
finish(void)
{
    printf("1..%d\n", checks);
    fflush(stdout);

    return failures != 0;
}

#endif
