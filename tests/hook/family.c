/*
 * family.c: every function of the malloc family, under the hook in COUNT mode
 * with limit 0, where live is exact to the byte.
 */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <unistd.h>

#include "check.h"

#define THREADS     8
#define SHORT_LIVED 300


typedef struct {
    const char *name;
    void *(*make)(size_t size);
} maker_t;


static void *
make_calloc(size_t size)
{
    return calloc(1, size);
}


static void *
make_realloc(size_t size)
{
    return realloc(NULL, size);
}


static void *
make_reallocarray(size_t size)
{
    return reallocarray(NULL, size, 1);
}


static void *
make_memalign(size_t size)
{
    return memalign(256, size);
}


static void *
make_aligned(size_t size)
{
    return aligned_alloc(64, size);
}


static void *
make_posix(size_t size)
{
    void *p;

    return posix_memalign(&p, 4096, size) == 0 ? p : NULL;
}


static const maker_t makers[] = {
    { "malloc", malloc },
    { "calloc", make_calloc },
    { "realloc", make_realloc },
    { "reallocarray", make_reallocarray },
    { "memalign", make_memalign },
    { "aligned_alloc", make_aligned },
    { "posix_memalign", make_posix },
    { "valloc", valloc },
    { "pvalloc", pvalloc }
};

static const size_t sizes[] = { 0, 1, 100, 4096, 70000, 5 << 20 };


static void
test_makers(void)
{
    size_t i, k;
    void *p;
    int64_t start, grown;
    char name[64];

    for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        int ok = 1;

        for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            start = live();
            p = makers[i].make(sizes[k]);
            grown = live() - start;

            ok &= p != NULL
                  && grown == (int64_t) (malloc_usable_size(p) + 8);
            memset(p, 1, sizes[k]);
            free(p);
            ok &= live() == start;
        }

        snprintf(name, sizeof(name), "%s charges what free credits",
                 makers[i].name);
        check(ok, name);
    }
}


static void
test_realloc(void)
{
    int64_t start = live();
    char *p = malloc(1 << 20);
    int64_t had = live() - start;
    int64_t usable = (int64_t) malloc_usable_size(p);

    memset(p, 7, 1 << 20);
    p = realloc(p, 3 << 20);
    check_equal(live() - start - had,
                (int64_t) malloc_usable_size(p) - usable,
                "realloc charges the difference");
    check(p[0] == 7 && p[(1 << 20) - 1] == 7, "realloc keeps the content");

    p = realloc(p, 1000);
    check_equal(live() - start, (int64_t) malloc_usable_size(p) + 8,
                "a smaller realloc credits the difference");

    p = realloc(p, 0);
    check(p == NULL, "realloc to 0 returns NULL");
    check_equal(live(), start, "realloc to 0 credits all");
}


static void
test_impossible(void)
{
    int64_t start = live(), peak = page->peak;
    volatile size_t huge = SIZE_MAX - 4096;
    void *p = NULL;

    errno = 0;
    check(malloc(huge) == NULL && errno == ENOMEM, "malloc(SIZE_MAX)");
    check(calloc(huge, 16) == NULL && reallocarray(NULL, huge, 2) == NULL,
          "products that overflow");
    check(malloc(huge / 4) == NULL, "a size that no machine has");
    check(posix_memalign(&p, 3, 16) == EINVAL, "posix_memalign: alignment");
    check(aligned_alloc(64, huge) == NULL && pvalloc(huge) == NULL,
          "aligned, and rounded up to a page");
    check_equal(live(), start, "what was not given is not charged");
    check(page->peak - peak < 1 << 20, "and is no peak");
}


static void
test_libc_callers(void)
{
    int64_t start;
    char *text = NULL, *copy;
    size_t size = 0;
    FILE *f;

    f = fopen("/proc/self/maps", "r");
    start = live();
    copy = strdup("a string of some length, copied by the library");

    if (getline(&text, &size, f) < 0
        || asprintf(&text, "%s%s", copy, copy) < 0)
    {
        check(0, "getline, asprintf");
    }

    check(live() > start, "strdup and asprintf allocate through the hook");
    free(copy);
    free(text);
    fclose(f);

    check(live() <= start, "and give back what the program frees");
}


/* --- threads --- */

static void *slots[256];


/* Blocks cross threads: allocated here, freed there. */
static void *
churn(void *seed)
{
    unsigned n, x = (unsigned) (uintptr_t) seed;
    void *p;

    for (n = 0; n < 60000; n++) {
        x = x * 1664525u + 1013904223u;
        p = malloc(16 + ((x >> 8) & 4095));
        p = __atomic_exchange_n(&slots[x >> 24], p, __ATOMIC_ACQ_REL);
        free(p);
    }

    return NULL;
}


static void
test_threads(void)
{
    int i;
    int64_t start;
    pthread_t threads[THREADS];

    /* stacks and arenas are made once and kept */
    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, churn, (void *) (uintptr_t) i);
    }

    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }

    for (i = 0; i < 256; i++) {
        free(slots[i]);
        slots[i] = NULL;
    }

    start = live();

    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, churn, (void *) (uintptr_t) (i + 9));
    }

    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }

    for (i = 0; i < 256; i++) {
        free(slots[i]);
        slots[i] = NULL;
    }

    check_equal(live(), start, "8 threads, blocks crossing them: exact");
}


static pthread_key_t late_key;


static void *
leave_late(void *unused)
{
    (void) unused;
    pthread_setspecific(late_key, malloc(300));

    return malloc(50000);
}


/* A remainder below one batch, many times over. */
static void
test_thread_remainders(void)
{
    int i;
    int64_t start = 0;
    void *p;
    pthread_t thread;

    pthread_key_create(&late_key, free);

    for (i = 0; i <= SHORT_LIVED; i++) {
        if (i == 1) {
            start = live();
        }

        pthread_create(&thread, NULL, leave_late, NULL);
        pthread_join(thread, &p);
        free(p);
    }

    check_equal(live(), start, "ended threads leave no remainder behind");
}


int
main(void)
{
    find_page();
    check_equal(page->loaded, 1, "loaded");
    check_equal(page->self, (int64_t) (uintptr_t) page, "self");
    check_equal(page->owner, getpid(), "owner");
    check(getenv("SBX_PAGE_FD") == NULL && getenv("LD_PRELOAD") == NULL,
          "environment is clean");

    test_makers();
    test_realloc();
    test_impossible();
    test_libc_callers();
    test_threads();
    test_thread_remainders();

    return finish();
}
