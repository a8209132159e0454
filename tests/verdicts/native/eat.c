/*
 * eat.c: a static program, which no preloaded hook sees, as a runtime of its
 * own.  Its source is one line, "MIB [aloud] [stay]": it takes so much by 1 MiB,
 * says how much in the end or at each step, and ends or stays.
 */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>


int
main(int argc, char **argv)
{
    int i, mib = 0, aloud = 0, stay = 0;
    char line[256];
    void *p;
    FILE *f;

    f = argc > 1 ? fopen(argv[1], "r") : NULL;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (line[0] != '#') {
            (void) sscanf(line, "%d", &mib);
            aloud = strstr(line, "aloud") != NULL;
            stay = strstr(line, "stay") != NULL;
        }
    }

    for (i = 1; i <= mib; i++) {
        p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED) {
            return 12;
        }

        memset(p, 1, 1 << 20);

        if (i == mib || aloud) {
            printf("%d\n", i);
            fflush(stdout);
        }
    }

    while (stay) {
        pause();
    }

    return 0;
}
