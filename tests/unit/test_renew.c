/*
 * test_renew.c: when a zygote is due for renewal, and how its growth is seen.
 */

#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"
#include "sbx_state.h"

#define SECOND  1000000000ull
#define MIB     (1ull << 20)

static const struct {
    uint32_t runs, s, growth_permille;
    unsigned children;
    uint64_t age_ns, anon_ready, anon_now;
    const char *reason;
} rows[] = {
    { 10, 60, 2000, 9, 59 * SECOND, 40 * MIB, 80 * MIB, NULL },
    { 10, 60, 2000, 10, 0, 40 * MIB, 40 * MIB, "its children" },
    { 10, 60, 2000, 0, 60 * SECOND, 40 * MIB, 40 * MIB, "its age" },
    { 10, 60, 2000, 0, 0, 40 * MIB, 80 * MIB + 4096, "its growth" },
    { 10, 60, 1500, 0, 0, 40 * MIB, 61 * MIB, "its growth" },
    { 0, 60, 2000, 1000000, 0, 40 * MIB, 40 * MIB, NULL },
    { 10, 0, 2000, 0, 1000000 * SECOND, 40 * MIB, 40 * MIB, NULL },
    { 10, 60, 0, 0, 0, 40 * MIB, 4000 * MIB, NULL },
    /* not known at its start, or not known now */
    { 10, 60, 2000, 0, 0, 0, 400 * MIB, NULL },
    { 10, 60, 2000, 0, 0, 40 * MIB, 0, NULL }
};


static void
test_rows(void **state)
{
    (void) state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        sbx_conf_t conf = { .renew_runs = rows[i].runs, .renew_s = rows[i].s,
                            .renew_growth_permille = rows[i].growth_permille };
        sbx_zyg_t z = { .children = rows[i].children,
                        .anon_bytes = rows[i].anon_ready };
        const char *reason = sbx_renew_reason(&conf, &z, rows[i].age_ns,
                                              rows[i].anon_now);

        if (rows[i].reason == NULL ? reason != NULL
            : reason == NULL || strcmp(reason, rows[i].reason) != 0)
        {
            fail_msg("row %zu: %s", i, reason != NULL ? reason : "none");
        }
    }
}


/* Pages that were written to count, reserved ones do not. */
static void
test_growth(void **state)
{
    uint64_t before;
    char *pages = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void) state;
    assert_true(pages != MAP_FAILED);
    before = sbx_renew_anon_bytes(getpid());
    assert_true(before > 0);
    assert_true(before < 64 * MIB);
    memset(pages, 1, 64 * MIB);
    assert_true(sbx_renew_anon_bytes(getpid()) >= before + 60 * MIB);
    munmap(pages, 64 * MIB);
}


static void
test_nobody(void **state)
{
    (void) state;
    assert_int_equal(sbx_renew_anon_bytes(0x7fffffff), 0);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_nobody)
    };

    return cmocka_run_group_tests_name("renew", tests, NULL, NULL);
}
