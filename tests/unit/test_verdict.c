/*
 * test_verdict.c: names and codes of verdicts, and the table of layers.
 */

#include <signal.h>

#include "unit.h"

#include "sbx_layer.h"
#include "sbx_verdict.h"


typedef struct {
    const char *name;
    int exit_code, signal;
    sbx_reason_t reason;
    int returncode, http;
} row_t;

static const row_t rows[] = {
    { "success", 0, 0, 0, 0, 200 },
    { "error", 1, 0, 0, 1, 200 },
    { "error", 137, 0, 0, 137, 200 },
    { "error", 255, 0, 0, 255, 200 },
    { "memory_exceeded", 128, 0, SBX_REASON_HOOK, 128, 200 },
    { "memory_exceeded", -1, SIGKILL, SBX_REASON_CGROUP, 128, 200 },
    { "oom_killed", -1, SIGKILL, 0, 137, 200 },
    { "timeout", -1, SIGKILL, SBX_REASON_WALL, 143, 200 },
    { "memory_violation", -1, SIGSEGV, 0, 139, 200 },
    { "memory_violation", -1, SIGBUS, 0, 135, 200 },
    { "signaled", -1, SIGABRT, 0, 134, 200 },
    { "signaled", -1, SIGTERM, 0, 143, 200 },
    { "seccomp_violation", -1, SIGKILL, 0, 159, 200 },
    { "output_exceeded", -1, SIGKILL, SBX_REASON_STDOUT, 153, 200 },
    { "process_exceeded", -1, SIGKILL, 0, 153, 200 },
    { "file_exceeded", 1, 0, 0, 153, 200 },
    { "disk_exceeded", 1, 0, 0, 153, 200 },
    { "busy", -1, 0, SBX_REASON_QUEUE, 125, 503 },
    { "invalid", -1, 0, 0, 125, 400 },
    { "internal_error", -1, 0, SBX_REASON_SLOT, 125, 500 },
    { "internal_error", -1, 0, SBX_REASON_UNPROTECTED, 125, 503 }
};


static void
test_codes(void **state)
{
    size_t i;
    int status;
    sbx_verdict_t v;

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        status = sbx_status_find(str(rows[i].name));
        assert_true(status >= 0);
        assert_string_equal(sbx_status_name(status), rows[i].name);

        sbx_verdict_init(&v);
        v.status = status;
        v.exit_code = rows[i].exit_code;
        v.signal = rows[i].signal;
        v.reason = rows[i].reason;

        assert_int_equal(sbx_verdict_returncode(&v), rows[i].returncode);
        assert_int_equal(sbx_verdict_http(&v), rows[i].http);
    }

    assert_int_equal(sbx_status_find(str("succes")), -1);
    assert_int_equal(sbx_status_find(str("successs")), -1);
}


static void
test_names(void **state)
{
    int i;

    (void) state;

    for (i = 0; i < SBX_STATUS_COUNT; i++) {
        assert_int_equal(sbx_status_find(str(sbx_status_name(i))), i);
    }

    for (i = 1; i < SBX_REASON_COUNT; i++) {
        assert_int_equal(sbx_reason_name(i)[0] == '\0',
                         i == SBX_REASON_UNUSED);
    }

    for (i = 1; i < SBX_SOURCE_COUNT; i++) {
        assert_true(sbx_source_name(i)[0] != '\0');
    }

    for (i = 1; i < SBX_VIOLATION_COUNT; i++) {
        assert_true(sbx_violation_name(i)[0] != '\0');
    }

    assert_string_equal(sbx_reason_name(SBX_REASON_NONE), "");
    assert_string_equal(sbx_reason_name(SBX_REASON_COUNT), "");
    assert_string_equal(sbx_status_name(SBX_STATUS_COUNT), "");
}


static void
test_layers(void **state)
{
    uint32_t all;
    const sbx_layer_info_t *layer;

    (void) state;

    all = 0;

    for (layer = sbx_layers; layer->bit != 0; layer++) {
        assert_int_equal(sbx_layer_find(str(layer->name)), layer->bit);
        assert_int_equal(all & layer->bit, 0);
        all |= layer->bit;
    }

    for (layer = sbx_checks; layer->bit != 0; layer++) {
        assert_int_equal(sbx_layer_find(str(layer->name)), layer->bit);
        assert_int_equal(all & layer->bit, 0);
        assert_int_equal(SBX_CHECKS_ALL & layer->bit, layer->bit);
        all |= layer->bit;
    }

    assert_int_equal(all, SBX_LAYERS_ALL);
    assert_int_equal(sbx_layer_find(str("secc")), 0);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_layers)
    };

    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
