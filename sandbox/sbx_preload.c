/*
 * sbx_preload.c: the preload hook's start, and the malloc family.
 *
 * Runs in the zygote, the child and what the child executes, inside a program
 * that is not ours; one library for every runtime.  Without a page in its
 * environment it counts for nobody and refuses nothing.
 *
 * The real functions are glibc's __libc_ names: dlsym would allocate, and its
 * callers allocate while it looks.  Blocks are charged by what they occupy,
 * malloc_usable_size and the header, so that free takes back the same number
 * and realloc the difference.  Static programs never load this: no limit may
 * depend on it.
 */

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_preload.h"

#define PRELOAD_ENV     "LD_PRELOAD"
#define PRELOAD_NAME    "libsbx_preload.so"
#define BLOCK_HEADER    sizeof(size_t)


extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *p);


static inline int64_t
block_size(void *p)
{
    return (int64_t) (malloc_usable_size(p) + BLOCK_HEADER);
}


/*
 * Room for a block of which `size` is new: 0 with what was reserved for it, -1
 * with errno.
 */
static inline int
block_take(size_t size, size_t block, size_t *reserved)
{
    *reserved = 0;

    if (sbx_likely(sbx_hook_fits(size, block))) {
        return 0;
    }

    /* No allocator has this much: its own answer is right, not a violation. */
    if (block > PTRDIFF_MAX) {
        return 0;
    }

    *reserved = size;
    return sbx_hook_reserve(size, block, SBX_HOOK_MALLOC);
}


static inline void *
block_settle(void *p, size_t reserved)
{
    int64_t n = p != NULL ? block_size(p) : 0;

    if (sbx_likely(reserved == 0)) {
        sbx_hook_add(n);

    } else {
        sbx_hook_settle(n, reserved);
    }

    return p;
}


static void *
block_align(size_t align, size_t size)
{
    size_t reserved;

    if (block_take(size, size, &reserved) != 0) {
        return NULL;
    }

    return block_settle(__libc_memalign(align, size), reserved);
}


static void *
block_resize(void *old, size_t size)
{
    void *p;
    size_t had, more, reserved;

    had = (size_t) block_size(old);
    more = size > had ? size - had : 0;

    /* A block that only shrinks was allowed when it was larger. */
    if (block_take(more, more > 0 ? size : 0, &reserved) != 0) {
        return NULL;
    }

    p = __libc_realloc(old, size);

    if (p == NULL && size != 0) {
        sbx_hook_settle(0, reserved);
        return NULL;
    }

    /* realloc(p, 0) frees and returns NULL */
    sbx_hook_settle((p != NULL ? block_size(p) : 0) - (int64_t) had, reserved);

    return p;
}


SBX_HOOK_EXPORT void *
malloc(size_t size)
{
    size_t reserved;

    if (block_take(size, size, &reserved) != 0) {
        return NULL;
    }

    return block_settle(__libc_malloc(size), reserved);
}


SBX_HOOK_EXPORT void
free(void *p)
{
    if (p == NULL) {
        return;
    }

    sbx_hook_add(-block_size(p));
    __libc_free(p);
}


SBX_HOOK_EXPORT void *
calloc(size_t n, size_t size)
{
    size_t total, reserved;

    if (__builtin_mul_overflow(n, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }

    if (block_take(total, total, &reserved) != 0) {
        return NULL;
    }

    return block_settle(__libc_calloc(n, size), reserved);
}


SBX_HOOK_EXPORT void *
realloc(void *old, size_t size)
{
    size_t reserved;

    if (old != NULL) {
        return block_resize(old, size);
    }

    if (block_take(size, size, &reserved) != 0) {
        return NULL;
    }

    return block_settle(__libc_malloc(size), reserved);
}


SBX_HOOK_EXPORT void *
reallocarray(void *old, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }

    return realloc(old, total);
}


SBX_HOOK_EXPORT void *
memalign(size_t align, size_t size)
{
    return block_align(align, size);
}


SBX_HOOK_EXPORT void *
aligned_alloc(size_t align, size_t size)
{
    return block_align(align, size);
}


SBX_HOOK_EXPORT int
posix_memalign(void **result, size_t align, size_t size)
{
    void *p;

    if (align == 0 || align % sizeof(void *) != 0 || (align & (align - 1)) != 0)
    {
        return EINVAL;
    }

    p = block_align(align, size);

    if (p == NULL) {
        return ENOMEM;
    }

    *result = p;
    return 0;
}


SBX_HOOK_EXPORT void *
valloc(size_t size)
{
    return block_align((size_t) getpagesize(), size);
}


SBX_HOOK_EXPORT void *
pvalloc(size_t size)
{
    size_t page = (size_t) getpagesize();

    if (size > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }

    return block_align(page, (size + page - 1) & ~(page - 1));
}


/* Takes an entry out of the environment, its text included (/proc/PID/environ
 * shows the text, not the vector). */
static void
drop_entry(char **entry)
{
    memset(*entry, 0, strlen(*entry));

    do {
        entry[0] = entry[1];
    } while (*entry++ != NULL);
}


/* The entry NAME=…, or NULL; *value is what follows the sign. */
static char **
find_entry(const char *name, char **value)
{
    char **entry;
    size_t len = strlen(name);

    for (entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=') {
            *value = *entry + len + 1;
            return entry;
        }
    }

    return NULL;
}


static int
is_own_path(const char *path, size_t len)
{
    size_t own = sizeof(PRELOAD_NAME) - 1;

    return len >= own && memcmp(path + len - own, PRELOAD_NAME, own) == 0
           && (len == own || path[len - own - 1] == '/');
}


/* Leaves what others preload: the run may have its own reasons. */
static void
drop_own_preload(void)
{
    char *value, *in, *out, **entry;
    size_t len;

    entry = find_entry(PRELOAD_ENV, &value);

    if (entry == NULL) {
        return;
    }

    for (in = out = value; *in != '\0'; in += len) {
        in += strspn(in, ": ");
        len = strcspn(in, ": ");

        if (len == 0 || is_own_path(in, len)) {
            continue;
        }

        if (out != value) {
            *out++ = ':';
        }

        memmove(out, in, len);
        out += len;
    }

    memset(out, 0, (size_t) (in - out));

    if (out == value) {
        drop_entry(entry);
    }
}


/* The page's descriptor, or -1.  Digits only: nothing of strtol's locale. */
static int
take_page_fd(void)
{
    int fd = 0;
    char *p, *value, **entry;

    entry = find_entry(SBX_PAGE_ENV, &value);

    if (entry == NULL) {
        return -1;
    }

    for (p = value; *p >= '0' && *p <= '9' && fd < 1 << 20; p++) {
        fd = fd * 10 + (*p - '0');
    }

    if (p == value || *p != '\0') {
        fd = -1;
    }

    drop_entry(entry);
    return fd;
}


static sbx_page_t *
map_page(int fd)
{
    sbx_page_t *page;

    page = (sbx_page_t *) syscall(SYS_mmap, NULL, (size_t) SBX_PAGE_SIZE,
                                  PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                  (off_t) 0);
    syscall(SYS_close, fd);

    if ((void *) page == MAP_FAILED) {
        return NULL;
    }

    if (page->magic != SBX_PAGE_MAGIC) {
        syscall(SYS_munmap, page, (size_t) SBX_PAGE_SIZE);
        return NULL;
    }

    return page;
}


/*
 * Early among constructors, but not first: others have allocated by now, which
 * the page of sbx_preload_count.c that nobody shares has counted.
 */
__attribute__((constructor(101)))
static void
start_hook(void)
{
    sbx_page_t *page;
    int fd;

    sbx_hook_start();

    fd = take_page_fd();
    drop_own_preload();

    if (fd < 0) {
        return;
    }

    page = map_page(fd);

    if (page != NULL) {

        /* The dozenth thread of an honest program would find no room. */
        if (page->one_arena) {
            mallopt(M_ARENA_MAX, 1);
        }

        sbx_hook_attach(page);
        sbx_hook_fault_start();
    }
}
