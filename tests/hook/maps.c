/*
 * maps.c: the mmap family, under the hook in COUNT mode with limit 0, where
 * live is exact.  Sizes are in pages.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define PAGE        4096
#define RW          (PROT_READ | PROT_WRITE)
#define ANON        (MAP_PRIVATE | MAP_ANONYMOUS)
#define MODEL       96


static int64_t start;


static int64_t
pages(void)
{
    return (live() - start) / PAGE;
}


static char *
map(void *at, size_t n, int prot, int flags)
{
    return mmap(at, n * PAGE, prot, flags, -1, 0);
}


static void
protect(char *p, size_t from, size_t n, int prot)
{
    if (mprotect(p + from * PAGE, n * PAGE, prot) != 0) {
        perror("mprotect");
    }
}


static void
unmap(char *p, size_t from, size_t n)
{
    munmap(p + from * PAGE, n * PAGE);
}


static void
test_map(void)
{
    char *p;

    start = live();
    p = map(NULL, 100, RW, ANON);
    check_equal(pages(), 100, "a writable mapping is charged");
    unmap(p, 40, 20);
    check_equal(pages(), 80, "a hole in the middle is credited");
    unmap(p, 30, 40);
    check_equal(pages(), 60, "an overlapping hole, for what was left");
    map(p, 100, PROT_NONE, ANON | MAP_FIXED);
    check_equal(pages(), 0, "mapping over it credits the rest");
    unmap(p, 0, 100);
    check_equal(pages(), 0, "unmapping PROT_NONE credits nothing");

    p = map(NULL, 100, PROT_READ, ANON);
    check_equal(pages(), 0, "a read-only mapping is free");
    map(p + 10 * PAGE, 10, RW, ANON | MAP_FIXED);
    map(p + 15 * PAGE, 10, RW, ANON | MAP_FIXED);
    check_equal(pages(), 15, "mapped over twice, charged once");
    unmap(p, 0, 100);

    p = mmap(NULL, 3 * PAGE + 1, RW, ANON, -1, 0);
    check_equal(pages(), 4, "a part of a page is a page");
    munmap(p, 3 * PAGE + 1);
    check_equal(pages(), 0, "both ways");

    errno = 0;
    check(map(NULL, 0, RW, ANON) == MAP_FAILED && errno == EINVAL
          && mmap(NULL, SIZE_MAX, RW, ANON, -1, 0) == MAP_FAILED
          && mmap(NULL, (size_t) 1 << 60, RW, ANON, -1, 0) == MAP_FAILED
          && munmap((void *) 1, PAGE) == -1,
          "what the system refuses fails as it does");
    check_equal(pages(), 0, "and is not charged");
}


static void
test_protect(void)
{
    char *p;

    start = live();
    p = map(NULL, 100, PROT_NONE, ANON | MAP_NORESERVE);
    check_equal(pages(), 0, "a reservation is free");
    protect(p, 10, 20, RW);
    check_equal(pages(), 20, "NONE to WRITE is charged");
    protect(p, 20, 20, RW);
    check_equal(pages(), 30, "overlapping: only the new part");
    protect(p, 10, 30, PROT_READ | PROT_EXEC);
    check_equal(pages(), 30, "WRITE to READ keeps what was written");
    protect(p, 10, 30, RW);
    check_equal(pages(), 30, "and back");
    protect(p, 15, 10, PROT_NONE);
    check_equal(pages(), 20, "WRITE to NONE is credited");
    protect(p, 15, 10, PROT_NONE);
    check_equal(pages(), 20, "once");
    protect(p, 0, 100, RW);
    check_equal(pages(), 100, "the whole: its gaps");
    check(mprotect(p + 1, PAGE, RW) == -1 && errno == EINVAL,
          "a bad address fails as outside");
    unmap(p, 0, 100);
    check_equal(pages(), 0, "unmapped");
    check(mprotect(p, 100 * PAGE, RW) == -1 && errno == ENOMEM,
          "nothing there: fails");
    check_equal(pages(), 0, "and is not charged");
}


static void
test_advise(void)
{
    char *p, *q;
    int i;

    start = live();
    p = map(NULL, 50, RW, ANON);
    q = map(NULL, 50, RW, MAP_SHARED | MAP_ANONYMOUS);
    check_equal(pages(), 100, "private and shared anonymous are charged");

    for (i = 0; i < 1000; i++) {
        madvise(p, 50 * PAGE, MADV_DONTNEED);
    }

    check_equal(pages(), 50, "DONTNEED credits once, however often");
    madvise(q, 50 * PAGE, MADV_DONTNEED);
    check_equal(pages(), 50, "not what is shared: it stays");
    madvise(q, 20 * PAGE, MADV_REMOVE);
    check_equal(pages(), 30, "REMOVE gives it back");
    protect(p, 0, 10, RW);
    check_equal(pages(), 40, "committed again, charged again");
    unmap(p, 0, 50);
    unmap(q, 0, 50);
    check_equal(pages(), 0, "nothing is credited twice");
}


static void
test_remap(void)
{
    char *p, *q, *r;

    start = live();
    p = map(NULL, 10, RW, ANON);
    p = mremap(p, 10 * PAGE, 300 * PAGE, MREMAP_MAYMOVE);
    check_equal(pages(), 300, "mremap charges the growth");
    p = mremap(p, 300 * PAGE, 5 * PAGE, 0);
    check_equal(pages(), 5, "and credits the rest when it shrinks");

    q = map(NULL, 20, RW, ANON);
    r = mremap(p, 5 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
    check(r == q, "to a fixed place");
    check_equal(pages(), 20, "what lay there is credited");
    unmap(q, 0, 20);
    check_equal(pages(), 0, "the moved range is known");

    p = map(NULL, 10, RW, ANON);
    q = mremap(p, 10 * PAGE, 10 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
               NULL);

    if (q != MAP_FAILED) {
        check_equal(pages(), 20, "DONTUNMAP leaves two writable ranges");
        unmap(q, 0, 10);
    }

    unmap(p, 0, 10);

    p = map(NULL, 10, RW, ANON);
    check(mremap(p, 10 * PAGE, (size_t) 1 << 60, MREMAP_MAYMOVE) == MAP_FAILED,
          "too much fails");
    check_equal(pages(), 10, "and changes nothing");
    unmap(p, 0, 10);
    check_equal(pages(), 0, "unmapped");
}


static void
test_files(void)
{
    char *p;
    int fd = open("/proc/self/exe", O_RDONLY);
    FILE *f = tmpfile();

    start = live();
    p = mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 0);
    check_equal(pages(), 1, "a private copy of a file is charged");
    munmap(p, PAGE);
    p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    check_equal(pages(), 0, "a file that is only read is not");
    munmap(p, PAGE);
    close(fd);

    if (ftruncate(fileno(f), 10 * PAGE) == 0) {
        p = mmap(NULL, 10 * PAGE, RW, MAP_SHARED, fileno(f), 0);
        check_equal(pages(), 0, "a shared file is the file's");
        munmap(p, 10 * PAGE);
    }

    fd = open("/dev/zero", O_RDWR);
    p = mmap(NULL, 10 * PAGE, RW, MAP_SHARED, fd, 0);
    check_equal(pages(), 10, "/dev/zero, shared, is memory");
    munmap(p, 10 * PAGE);
    check_equal(pages(), 0, "credited");
    close(fd);
    fclose(f);
}


/* Random operations on one area, against one flag per page. */
static void
test_model(void)
{
    unsigned i, n, from, len, x = 12345;
    int64_t wanted = 0;
    int ok = 1;
    char charged[MODEL] = { 0 };
    char *p = map(NULL, MODEL, PROT_NONE, ANON);

    start = live();

    for (n = 0; n < 30000 && ok; n++) {
        x = x * 1664525u + 1013904223u;
        from = (x >> 8) % MODEL;
        len = 1 + (x >> 16) % (MODEL - from);

        switch ((x >> 28) % 6) {
        case 0:
            protect(p, from, len, RW);
            memset(charged + from, 1, len);
            break;
        case 1:
            protect(p, from, len, PROT_NONE);
            memset(charged + from, 0, len);
            break;
        case 2:
            madvise(p + from * PAGE, len * PAGE, MADV_DONTNEED);
            memset(charged + from, 0, len);
            break;
        case 3:
            map(p + from * PAGE, len, RW, ANON | MAP_FIXED);
            memset(charged + from, 1, len);
            break;
        case 4:
            protect(p, from, len, PROT_READ);
            break;
        case 5:
            unmap(p, from, len);
            map(p + from * PAGE, len, PROT_NONE, ANON | MAP_FIXED);
            memset(charged + from, 0, len);
            break;
        }

        for (wanted = 0, i = 0; i < MODEL; i++) {
            wanted += charged[i];
        }

        ok = pages() == wanted;
    }

    if (!check(ok, "30000 random operations agree with one flag per page")) {
        printf("# after %u: %" PRId64 ", wanted %" PRId64 "\n", n, pages(),
               wanted);
    }

    unmap(p, 0, MODEL);
    check_equal(pages(), 0, "and end with nothing");
}


/* More ranges than the table holds: never credited more than was charged. */
static void
test_full_table(void)
{
    unsigned i, n = 40000;
    char *p = map(NULL, n, PROT_NONE, ANON);

    start = live();

    for (i = 0; i < n; i += 2) {
        protect(p, i, 1, RW);
    }

    check_equal(pages(), n / 2, "20000 single pages are all charged");
    unmap(p, 0, n);
    check(pages() >= 0 && pages() < n / 2, "those known are credited");
}


int
main(void)
{
    find_page();

    test_map();
    test_protect();
    test_advise();
    test_remap();
    test_files();
    test_model();
    test_full_table();

    return finish();
}
