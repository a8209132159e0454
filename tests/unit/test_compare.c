/*
 * test_compare.c: outputs against expectations, by each rule.
 */

#include "unit.h"

#include "sbx_compare.h"


typedef struct {
    sbx_str_t output, expected;
    int same[SBX_COMPARE_COUNT];    /* exact, tokens, trimmed, lines */
} row_t;

static const row_t rows[] = {
    { SBX_STR(""), SBX_STR(""), { 1, 1, 1, 1 } },
    { SBX_STR("1\n"), SBX_STR("1\n"), { 1, 1, 1, 1 } },
    { SBX_STR("1\n"), SBX_STR("1"), { 0, 1, 1, 1 } },
    { SBX_STR("1"), SBX_STR("1\r\n \t\v\f"), { 0, 1, 1, 1 } },
    { SBX_STR(" 1"), SBX_STR("1"), { 0, 1, 0, 0 } },
    { SBX_STR("1  2\n3"), SBX_STR("1 2 3"), { 0, 1, 0, 0 } },
    { SBX_STR("12"), SBX_STR("1 2"), { 0, 0, 0, 0 } },
    { SBX_STR("1 2"), SBX_STR("1 2 3"), { 0, 0, 0, 0 } },
    { SBX_STR("1 2 3"), SBX_STR("1 2"), { 0, 0, 0, 0 } },
    { SBX_STR("\n\n"), SBX_STR(""), { 0, 1, 1, 1 } },
    { SBX_STR(""), SBX_STR("0"), { 0, 0, 0, 0 } },
    { SBX_STR("a\0b"), SBX_STR("a\0c"), { 0, 0, 0, 0 } },
    { SBX_STR("a\0"), SBX_STR("a"), { 0, 0, 0, 0 } },
    { SBX_STR("\xff\n"), SBX_STR("\xff"), { 0, 1, 1, 1 } },
    { SBX_STR("\xc2\xa0"), SBX_STR(""), { 0, 0, 0, 0 } },
    { SBX_STR("a \t\nb\n"), SBX_STR("a\r\nb"), { 0, 1, 0, 1 } },
    { SBX_STR("a\n b"), SBX_STR("a\nb"), { 0, 1, 0, 0 } },
    { SBX_STR("a\n\nb"), SBX_STR("a\nb"), { 0, 1, 0, 0 } },
    { SBX_STR("a\n \nb"), SBX_STR("a\n\nb\n\n"), { 0, 1, 0, 1 } },
    { SBX_STR("a\nb"), SBX_STR("a"), { 0, 0, 0, 0 } },
    { SBX_STR("a"), SBX_STR("a\nb"), { 0, 0, 0, 0 } },
    { SBX_STR("a b"), SBX_STR("a\nb"), { 0, 1, 0, 0 } },
    { SBX_STR(" \n \n"), SBX_STR(""), { 0, 1, 1, 1 } }
};


static void
test_rows(void **state)
{
    size_t i;
    int how;

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        for (how = 0; how < SBX_COMPARE_COUNT; how++) {
            if (sbx_compare(how, rows[i].output, rows[i].expected)
                != rows[i].same[how])
            {
                fail_msg("row %zu, %s", i, sbx_compare_name(how));
            }
        }
    }
}


static void
test_names(void **state)
{
    int how;

    (void) state;

    for (how = 0; how < SBX_COMPARE_COUNT; how++) {
        const char *name = sbx_compare_name(how);

        assert_int_equal(sbx_compare_find((sbx_str_t) { name, strlen(name) }),
                         how);
    }

    assert_int_equal(sbx_compare_find(SBX_STR("exactly")), -1);
    assert_int_equal(sbx_compare_find(SBX_STR("")), -1);
    assert_string_equal(sbx_compare_name(SBX_COMPARE_COUNT), "");
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
