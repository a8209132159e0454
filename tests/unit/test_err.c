/*
 * test_err.c: sbx_fail against snprintf, conversion by conversion, since it
 * formats by itself (it has to work between fork and exec).
 */

#include "unit.h"

#include "sbx_err.h"


#define CHECK(...)                                                            \
    do {                                                                      \
        char want[1024];                                                      \
        sbx_err_t err;                                                        \
                                                                              \
        snprintf(want, sizeof(want), __VA_ARGS__);                            \
        want[sizeof(err.text) - 1] = '\0';                                    \
        assert_int_equal(sbx_fail(&err, SBX_STEP_FORK, 7, __VA_ARGS__), -1);  \
        assert_string_equal(err.text, want);                                  \
    } while (0)


static void
test_conversions(void **state)
{
    (void) state;

    CHECK("plain");
    CHECK("%d %i %d", 0, -1, 2147483647);
    CHECK("%d", -2147483647 - 1);
    CHECK("%ld %lld", -5L, -9223372036854775807LL - 1);
    CHECK("%u %lu %llu", 4294967295u, 18446744073709551615ul, 1ull);
    CHECK("%zu %zd", (size_t) 12, (ssize_t) -12);
    CHECK("%x %X %o", 0xdeadbeefu, 0xdeadbeefu, 8u);
    CHECK("%s %s", "", "text");
    CHECK("%.*s|%.2s", 3, "abcdef", "xyz");
    CHECK("%c%c", 'a', 'b');
    CHECK("100%%");
    CHECK("%5d|%-5d|%05u|%05d|%-5d|", 42, 42, 42u, -42, -42);
    CHECK("%016lx", 0xdeadbeeful);
    CHECK("%8s|%-8s|", "ab", "ab");
    CHECK("%*d", 6, 1);
    CHECK("%p", (void *) 0x1234);
    CHECK("%hd %hhu", (short) -3, (unsigned char) 200);
    CHECK("%.3u", 7u);
}


/* A precision may bound a string that has no NUL at all. */
static void
test_unterminated(void **state)
{
    sbx_err_t err;
    char raw[3] = { 'a', 'b', 'c' };

    (void) state;

    sbx_fail(&err, SBX_STEP_JOB, 0, "<%.*s>", 3, raw);
    assert_string_equal(err.text, "<abc>");
}


static void
test_long(void **state)
{
    char big[1000];
    sbx_err_t err;

    (void) state;

    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';

    CHECK("%s", big);
    CHECK("ab%s%d", big, 5);
    CHECK("%300d", 5);

    sbx_fail(&err, SBX_STEP_JOB, 0, "%s", big);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}


static void
test_fields(void **state)
{
    int i;
    sbx_err_t err;

    (void) state;

    assert_int_equal(sbx_fail(NULL, SBX_STEP_SLOT, 1, "nobody asks"), -1);

    sbx_fail(&err, SBX_STEP_SECCOMP, 13, "load");
    assert_int_equal(err.step, SBX_STEP_SECCOMP);
    assert_int_equal(err.errnum, 13);

    for (i = 0; i < SBX_STEP_COUNT; i++) {
        assert_non_null(sbx_step_name(i));
        assert_true(sbx_step_name(i)[0] != '\0');
    }

    assert_string_equal(sbx_step_name(SBX_STEP_SECCOMP), "seccomp");
    assert_string_equal(sbx_step_name(SBX_STEP_COUNT), "unknown");
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_unterminated),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_fields)
    };

    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
