/*
 * test_conf.c: --config: what is no setting is named, never ignored.
 *
 * A good text fails later here, at the hook's library, which does not lie
 * beside a test program: that message is how a good one is told.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sbx_super.h"

#define GOOD  "libsbx_preload.so"

static const struct {
    const char *json;
    const char *says;
} rows[] = {
    { "{}", GOOD },
    { "{\"slots\":4,\"standby\":0,\"queue\":0,\"queue_ms\":1000,"
      "\"peer_uid\":33,\"log_level\":8,\"log\":\"/tmp/x\"}", GOOD },
    { "{\"runtimes\":[{\"name\":\"cat\",\"command\":[\"/usr/bin/cat\"],"
      "\"bind\":[\"/opt\"]}]}", GOOD },
    { "", "no JSON object" },
    { "[]", "no JSON object" },
    { "{\"slot\":3}", "unknown key slot" },
    { "{\"slots\":\"x\"}", "slots is no number" },
    { "{\"slots\":-1}", "slots is no number" },
    { "{\"slots\":100000000}", "slots is no number from 0 to 4096" },
    { "{\"queue_ms\":1.5}", "queue_ms is no number" },
    { "{\"log_level\":\"debug\"}", "log_level is no number" },
    { "{\"log\":5}", "unknown key log" },
    { "{\"preload\":[\"json\",\"os.path\"],\"preload_at\":[\"a:1\",\"a:2\"],"
      "\"renew_runs\":0,\"renew_s\":60,\"renew_growth_permille\":1500}", GOOD },
    { "{\"preload\":\"json\"}", "preload is no array of strings" },
    { "{\"preload\":[\"json os\"]}", "\"json os\" is no module" },
    { "{\"preload\":[\"\"]}", "\"\" is no module" },
    { "{\"renew_s\":-1}", "renew_s is no number" },
    { "{\"runtimes\":5}", "runtimes is no array" },
    { "{\"runtimes\":[5]}", "a runtime needs" },
    { "{\"runtimes\":[{\"name\":5,\"command\":[\"x\"]}]}", "a runtime needs" },
    { "{\"runtimes\":[{\"name\":\"b\",\"command\":[null]}]}",
      "a runtime needs" },
    { "{\"runtimes\":[{\"name\":\"b\",\"command\":[]}]}", "a runtime needs" },
    { "{\"runtimes\":[{\"name\":\"b\",\"command\":[\"x\"],\"bind\":\"/\"}]}",
      "a runtime needs" }
};


static void
test_rows(void **state)
{
    size_t i;
    sbx_err_t err;
    sbx_conf_t conf;

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(sbx_conf_init(&conf, rows[i].json, &err), -1);

        if (strstr(err.text, rows[i].says) == NULL) {
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i].json, err.text,
                     rows[i].says);
        }

        sbx_conf_clear(&conf);
    }
}


/* A mistake in a language's name tells the names there are. */
static void
test_no_language(void **state)
{
    sbx_err_t err;
    static sbx_conf_t conf = { .runtimes = { { "python", NULL, NULL, 0 },
                                             { "lua", NULL, NULL, 1 } },
                               .nruntimes = 2 };

    (void) state;

    assert_int_equal(sbx_conf_no_language(&conf, SBX_STR("pyhton"), &err), -1);
    assert_int_equal(err.step, SBX_STEP_CONFIG);
    assert_string_equal(err.text,
                        "language: \"pyhton\" is not one of python, lua");
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_language)
    };

    return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
