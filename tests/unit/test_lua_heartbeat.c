/*
 * test_lua_heartbeat.c: what a policy tells a judge's front, and what it makes
 * of the answer.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lua/sbx_lua.h"


static char path[64];


static sbx_policy_t *
must_open(const char *text)
{
    char err[512] = "";
    sbx_policy_t *policy;
    sbx_policy_bounds_t slow = { 0, 0, 5000 };
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);

    policy = sbx_policy_open(path, NULL, &slow, err, sizeof(err));

    if (policy == NULL) {
        fail_msg("%s", err);
    }

    return policy;
}


/* Behind the file's name. */
static void
check_error(const char *err, const char *wanted)
{
    if (strncmp(err, path, strlen(path)) == 0) {
        err += strlen(path);
    }

    if (strncmp(err, wanted, strlen(wanted)) != 0) {
        fail_msg("wanted: %s\ngot:    %s", wanted, err);
    }
}


static void
test_heartbeat(void **state)
{
    char err[512];
    sbx_policy_t *policy;
    sbx_policy_response_t out;

    (void) state;

    policy = must_open("return {}");
    assert_false(sbx_policy_has_heartbeat(policy));
    sbx_policy_close(policy);

    policy = must_open("local n = 0\n"
                       "return { heartbeat = function(...)\n"
                       "  assert(select('#', ...) == 0)\n"
                       "  n = n + 1\n"
                       "  return { headers = { ['X-N'] = tostring(n) },\n"
                       "           body = { n = n } }\n"
                       "end }");
    assert_true(sbx_policy_has_heartbeat(policy));

    assert_int_equal(sbx_policy_heartbeat(policy, &out, err, sizeof(err)), 0);
    sbx_policy_response_clear(&out);
    assert_int_equal(sbx_policy_heartbeat(policy, &out, err, sizeof(err)), 0);
    assert_int_equal(out.status, 0);
    assert_int_equal(out.nheaders, 1);
    assert_memory_equal(out.headers[0].value.data, "2", 1);
    assert_int_equal(out.body.len, 7);
    assert_memory_equal(out.body.data, "{\"n\":2}", 7);
    sbx_policy_response_clear(&out);
    sbx_policy_close(policy);
}


static void
test_heartbeat_mistakes(void **state)
{
    size_t i;
    char err[512], text[512];
    sbx_policy_t *policy;
    sbx_policy_response_t out;
    static const char *const rows[][2] = {
        { "", ":1: heartbeat() must return a table, not a nil" },
        { "return 1", ":1: heartbeat() must return a table, not a n" },
        { "return { status = 200 }", ":1: heartbeat(): a heartbeat has no st" },
        { "return { x = 1 }", ":1: heartbeat() returned an unknown field" },
        { "return { headers = { a = 'b\\r\\n' } }",
          ":1: heartbeat(): the value of header a has a control" },
        { "error('no url')", ":2: no url" },
        { "while true do end", ":2: policy used more than" },
    };

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "return { heartbeat = function()\n%s\n"
                 "end }", rows[i][0]);
        policy = must_open(text);
        assert_int_equal(sbx_policy_heartbeat(policy, &out, err, sizeof(err)),
                         -1);
        check_error(err, rows[i][1]);
        sbx_policy_close(policy);
    }
}


static void
test_heard(void **state)
{
    char err[512];
    sbx_policy_t *policy;

    (void) state;

    policy = must_open("return { heartbeat = function() return {} end }");
    assert_int_equal(sbx_policy_heard(policy, 204, SBX_STR(""), err,
                                      sizeof(err)), 0);
    assert_int_equal(sbx_policy_heard(policy, 403, SBX_STR(""), err,
                                      sizeof(err)), -1);
    assert_string_equal(err, "status 403");
    sbx_policy_close(policy);

    policy = must_open("return { heard = function(answer)\n"
                       "  if answer.body == 'loop' then while true do end end\n"
                       "  if answer.body == 'type' then return {} end\n"
                       "  if answer.status ~= 200 or answer.body ~= 'a\\0b' then"
                       " return 'said\\n' .. answer.body end\n"
                       "end }");
    assert_int_equal(sbx_policy_heard(policy, 200, SBX_STR("a\0b"), err,
                                      sizeof(err)), 0);
    assert_int_equal(sbx_policy_heard(policy, 500, SBX_STR("x\r\ny"), err,
                                      sizeof(err)), -1);
    assert_string_equal(err, "said x  y");
    assert_int_equal(sbx_policy_heard(policy, 200, SBX_STR("loop"), err,
                                      sizeof(err)), -1);
    check_error(err, ":2: policy used more than");
    assert_int_equal(sbx_policy_heard(policy, 200, SBX_STR("type"), err,
                                      sizeof(err)), -1);
    check_error(err, ":1: heard() must return nil or a string, not a table");
    sbx_policy_close(policy);
}


int
main(void)
{
    int rc;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heartbeat),
        cmocka_unit_test(test_heartbeat_mistakes),
        cmocka_unit_test(test_heard)
    };

    snprintf(path, sizeof(path), "/tmp/test_lua_heartbeat.%d.lua",
             (int) getpid());
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);

    return rc;
}
