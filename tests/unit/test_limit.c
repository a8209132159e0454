/*
 * test_limit.c: the table of limits, and its values as text.
 */

#include "unit.h"

#include "sbx_limit.h"


#define REFUSED  UINT64_MAX

typedef struct {
    sbx_limit_id_t id;
    const char *text;
    uint64_t value;         /* REFUSED: must not parse */
    uint64_t value_seconds; /* in a directive, where a bare time is seconds */
} parse_row_t;

static const parse_row_t rows[] = {
    { SBX_LIMIT_MEMORY, "64m", 64 << 20, 64 << 20 },
    { SBX_LIMIT_MEMORY, "64M", 64 << 20, 64 << 20 },
    { SBX_LIMIT_MEMORY, "1g", 1 << 30, 1 << 30 },
    { SBX_LIMIT_MEMORY, "2048k", 2 << 20, 2 << 20 },
    { SBX_LIMIT_MEMORY, "1048576", 1 << 20, 1 << 20 },
    { SBX_LIMIT_MEMORY, "1048575", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "64g", 64ULL << 30, 64ULL << 30 },
    { SBX_LIMIT_MEMORY, "65g", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "17179869184g", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "18446744073709551616", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "99999999999999999999999", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "64mb", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "64 m", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, " 64m", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "64m ", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "1.5g", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "-64m", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "+64m", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "0x4000000", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "m", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "64s", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "0", REFUSED, REFUSED },
    { SBX_LIMIT_OUTPUT, "0", 0, 0 },
    { SBX_LIMIT_OUTPUT, "64m", 64 << 20, 64 << 20 },
    { SBX_LIMIT_OUTPUT, "65m", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "500ms", 500, 500 },
    { SBX_LIMIT_TIMEOUT, "5s", 5000, 5000 },
    { SBX_LIMIT_TIMEOUT, "5S", 5000, 5000 },
    { SBX_LIMIT_TIMEOUT, "1m30s", 90000, 90000 },
    { SBX_LIMIT_TIMEOUT, "1m", 60000, 60000 },
    { SBX_LIMIT_TIMEOUT, "1m500ms", 60500, 60500 },
    { SBX_LIMIT_TIMEOUT, "1s500ms", 1500, 1500 },
    { SBX_LIMIT_TIMEOUT, "23h59m59s999ms", 86399999, 86399999 },
    { SBX_LIMIT_TIMEOUT, "24h", 86400000, 86400000 },
    { SBX_LIMIT_TIMEOUT, "1d", 86400000, 86400000 },
    { SBX_LIMIT_TIMEOUT, "24h1ms", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "25h", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "5", 5, 5000 },
    { SBX_LIMIT_TIMEOUT, "1500", 1500, 1500000 },
    { SBX_LIMIT_TIMEOUT, "0", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "0s", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "30s1m", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "1s1s", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "1m30", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "1.5s", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "5sec", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "5k", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "s", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "18446744073709551615h", REFUSED, REFUSED },
    { SBX_LIMIT_TIMEOUT, "213503982334d18446744073709551615ms", REFUSED,
      REFUSED },
    { SBX_LIMIT_CPU_TIME, "0", REFUSED, REFUSED },
    { SBX_LIMIT_CPU_TIME, "1ms", 1, 1 },
    { SBX_LIMIT_PROCESSES, "1", 1, 1 },
    { SBX_LIMIT_PROCESSES, "4096", 4096, 4096 },
    { SBX_LIMIT_PROCESSES, "4097", REFUSED, REFUSED },
    { SBX_LIMIT_PROCESSES, "0", REFUSED, REFUSED },
    { SBX_LIMIT_PROCESSES, "4k", REFUSED, REFUSED },
    { SBX_LIMIT_PROCESSES, "2s", REFUSED, REFUSED },
    { SBX_LIMIT_THREADS, "0", 0, 0 },
    { SBX_LIMIT_OPEN_FILES, "7", REFUSED, REFUSED },
    { SBX_LIMIT_OPEN_FILES, "8", 8, 8 },
    { SBX_LIMIT_STACK, "128k", 128 << 10, 128 << 10 },
    { SBX_LIMIT_STACK, "64k", REFUSED, REFUSED },
    { SBX_LIMIT_ALLOCATION, "1m", 1 << 20, 1 << 20 },
    { SBX_LIMIT_ALLOCATION, "1023k", REFUSED, REFUSED },
    { SBX_LIMIT_ALLOCATION, "none", 64ULL << 30, 64ULL << 30 },
    { SBX_LIMIT_ALLOCATION, "None", 64ULL << 30, 64ULL << 30 },
    { SBX_LIMIT_ALLOCATION, "nonesuch", REFUSED, REFUSED },
    { SBX_LIMIT_ALLOCATION, "non", REFUSED, REFUSED },
    { SBX_LIMIT_ALLOCATION, "0", REFUSED, REFUSED },
    { SBX_LIMIT_MEMORY, "none", REFUSED, REFUSED },
    { SBX_LIMIT_CPU_PER_SECOND, "800ms", 800, 800 },
    { SBX_LIMIT_CPU_PER_SECOND, "none", 86400000, 86400000 }
};


static void
check_parse(const parse_row_t *row, int bare_seconds, uint64_t want)
{
    int rc;
    uint64_t value;

    value = 0;
    rc = sbx_limit_parse(row->id, str(row->text), bare_seconds, &value);

    if (want == REFUSED ? rc != -1 : rc != 0 || value != want) {
        fail_msg("%s \"%s\" (seconds %d): rc %d, value %llu",
                 sbx_limits[row->id].name, row->text, bare_seconds, rc,
                 (unsigned long long) value);
    }
}


static void
test_parse(void **state)
{
    size_t i;

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        check_parse(&rows[i], 0, rows[i].value);
        check_parse(&rows[i], 1, rows[i].value_seconds);
    }
}


/* A length bounds the text, not a NUL. */
static void
test_bounded(void **state)
{
    uint64_t value;
    sbx_str_t text = { "64mgarbage", 3 };

    (void) state;

    assert_int_equal(sbx_limit_parse(SBX_LIMIT_MEMORY, text, 0, &value), 0);
    assert_int_equal(value, 64 << 20);
}


static void
test_format(void **state)
{
    size_t i;
    char buf[32];
    static const struct {
        sbx_limit_id_t id;
        uint64_t value;
        const char *want;
    } formats[] = {
        { SBX_LIMIT_MEMORY, 64 << 20, "64m" },
        { SBX_LIMIT_MEMORY, 1536 << 10, "1536k" },
        { SBX_LIMIT_MEMORY, 2ULL << 30, "2g" },
        { SBX_LIMIT_MEMORY, 1048577, "1048577" },
        { SBX_LIMIT_OUTPUT, 0, "0" },
        { SBX_LIMIT_TIMEOUT, 1500, "1500ms" },
        { SBX_LIMIT_TIMEOUT, 5000, "5s" },
        { SBX_LIMIT_TIMEOUT, 90000, "90s" },
        { SBX_LIMIT_TIMEOUT, 86400000, "24h" },
        { SBX_LIMIT_CPU_TIME, 0, "0ms" },
        { SBX_LIMIT_PROCESSES, 12, "12" },
        { SBX_LIMIT_ALLOCATION, 64ULL << 30, "none" },
        { SBX_LIMIT_ALLOCATION, 32ULL << 30, "32g" }
    };

    (void) state;

    for (i = 0; i < COUNT(formats); i++) {
        assert_string_equal(sbx_limit_format(formats[i].id, formats[i].value,
                                             buf, sizeof(buf)),
                            formats[i].want);
    }
}


/* What is formatted parses to the same value, at and inside both bounds. */
static void
test_round_trip(void **state)
{
    int id;
    char buf[32];
    uint64_t step, value, back;

    (void) state;

    for (id = 0; id < SBX_LIMIT_COUNT; id++) {
        step = (sbx_limits[id].max - sbx_limits[id].min) / 997 + 1;

        for (value = sbx_limits[id].min; value <= sbx_limits[id].max;
             value += step)
        {
            sbx_limit_format(id, value, buf, sizeof(buf));
            assert_int_equal(sbx_limit_parse(id, str(buf), 0, &back), 0);
            assert_true(back == value);
        }

        sbx_limit_format(id, sbx_limits[id].max, buf, sizeof(buf));
        assert_int_equal(sbx_limit_parse(id, str(buf), 0, &back), 0);
        assert_true(back == sbx_limits[id].max);
    }
}


static void
test_table(void **state)
{
    int id;

    (void) state;

    for (id = 0; id < SBX_LIMIT_COUNT; id++) {
        assert_int_equal(sbx_limit_find(str(sbx_limits[id].name)), id);
        assert_true(sbx_limits[id].min < sbx_limits[id].max);
        assert_true(sbx_limits[id].initial <= sbx_limits[id].max);
        assert_true(sbx_limits[id].initial >= sbx_limits[id].min
                    || id == SBX_LIMIT_CPU_TIME);
        assert_true(sbx_limits[id].meaning[0] != '\0');
        assert_true(sbx_limits[id].label[0] != '\0');

        /* what to do names the limit */
        assert_non_null(strstr(sbx_limits[id].advice, sbx_limits[id].name));
        assert_int_equal(sbx_limits[id].none,
                         sbx_limit_is_none(id, sbx_limits[id].max));
    }

    assert_int_equal(sbx_limit_find(str("memor")), -1);
    assert_int_equal(sbx_limit_find(str("memoryx")), -1);
    assert_int_equal(sbx_limit_find(str("")), -1);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_table)
    };

    return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
