/*
 * test_json.c: which texts are JSON, and which requests they make.
 */

#include <errno.h>

#include "unit.h"

#include "sbx_json.h"
#include "sbx_json_text.h"


/* error NULL: accepted.  Otherwise a part of the text that says why not. */
typedef struct {
    sbx_str_t text;
    const char *error;
} row_t;

static const row_t texts[] = {
    { SBX_STR("{}"), NULL },
    { SBX_STR("[]"), NULL },
    { SBX_STR(" \t\r\n{ \"a\" : [ 1 , 2 ] } \n"), NULL },
    { SBX_STR("null"), NULL },
    { SBX_STR("true"), NULL },
    { SBX_STR("\"\""), NULL },
    { SBX_STR("-0"), NULL },
    { SBX_STR("0.5e-10"), NULL },
    { SBX_STR("-1E+2"), NULL },
    { SBX_STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\""), NULL },
    { SBX_STR("\"\\ud83d\\ude00 \\uD83D\\uDE00\""), NULL },
    { SBX_STR("\"\\u0000\""), NULL },
    { SBX_STR("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \x7f\""), NULL },
    { SBX_STR("\"\xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf\""), NULL },
    { SBX_STR("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":2}}"), NULL },
    { SBX_STR("[{\"a\":1},{\"a\":1}]"), NULL },
    { SBX_STR("[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"), NULL },

    { SBX_STR(""), "the text ends too early at byte 0" },
    { SBX_STR("  "), "the text ends too early at byte 2" },
    { SBX_STR("{"), "a key was expected at byte 1" },
    { SBX_STR("[1"), "a comma or ] was expected at byte 2" },
    { SBX_STR("[1,"), "the text ends too early at byte 3" },
    { SBX_STR("[1,]"), "a value was expected at byte 3" },
    { SBX_STR("[,1]"), "a value was expected at byte 1" },
    { SBX_STR("[1 2]"), "a comma or ] was expected at byte 3" },
    { SBX_STR("{\"a\":1,}"), "a key was expected at byte 7" },
    { SBX_STR("{\"a\"}"), "a colon was expected at byte 4" },
    { SBX_STR("{\"a\":}"), "a value was expected at byte 5" },
    { SBX_STR("{a:1}"), "a key was expected at byte 1" },
    { SBX_STR("{'a':1}"), "a key was expected at byte 1" },
    { SBX_STR("{1:1}"), "a key was expected at byte 1" },
    { SBX_STR("{\"a\":1 \"b\":2}"), "a comma or } was expected at byte 7" },
    { SBX_STR("[1}"), "a comma or ] was expected at byte 2" },
    { SBX_STR("]"), "a value was expected at byte 0" },
    { SBX_STR("{}x"), "trailing bytes at byte 2" },
    { SBX_STR("{}{}"), "trailing bytes at byte 2" },
    { SBX_STR("{}\0"), "trailing bytes at byte 2" },
    { SBX_STR("// c\n{}"), "a value was expected at byte 0" },
    { SBX_STR("{}/**/"), "trailing bytes at byte 2" },
    { SBX_STR("\xef\xbb\xbf{}"), "a value was expected at byte 0" },
    { SBX_STR("nul"), "a value was expected at byte 0" },
    { SBX_STR("nullx"), "trailing bytes at byte 4" },
    { SBX_STR("True"), "a value was expected at byte 0" },
    { SBX_STR("NaN"), "a value was expected at byte 0" },
    { SBX_STR("Infinity"), "a value was expected at byte 0" },
    { SBX_STR("-Infinity"), "invalid number at byte 0" },
    { SBX_STR("-"), "invalid number at byte 0" },
    { SBX_STR("+1"), "a value was expected at byte 0" },
    { SBX_STR(".5"), "a value was expected at byte 0" },
    { SBX_STR("1."), "invalid number at byte 0" },
    { SBX_STR("1.e1"), "invalid number at byte 0" },
    { SBX_STR("1e"), "invalid number at byte 0" },
    { SBX_STR("1e+"), "invalid number at byte 0" },
    { SBX_STR("01"), "leading zero in a number at byte 0" },
    { SBX_STR("-01"), "leading zero in a number at byte 0" },
    { SBX_STR("0x10"), "trailing bytes at byte 1" },
    { SBX_STR("\"abc"), "unterminated string at byte 0" },
    { SBX_STR("\"abc\\"), "invalid escape at byte 4" },
    { SBX_STR("\"\\\""), "unterminated string at byte 0" },
    { SBX_STR("\"\\a\""), "invalid escape at byte 1" },
    { SBX_STR("\"\\u12\""), "invalid escape at byte 1" },
    { SBX_STR("\"\\u12g4\""), "invalid escape at byte 1" },
    { SBX_STR("\"\\U0041\""), "invalid escape at byte 1" },
    { SBX_STR("\"\\\0\""), "invalid escape at byte 1" },
    { SBX_STR("\"\n\""), "control character in a string at byte 1" },
    { SBX_STR("\"\0\""), "control character in a string at byte 1" },
    { SBX_STR("\"\x1f\""), "control character in a string at byte 1" },
    { SBX_STR("\"\\ud800\""), "lone surrogate at byte 1" },
    { SBX_STR("\"\\udc00\""), "lone surrogate at byte 1" },
    { SBX_STR("\"\\udc00\\ud800\""), "lone surrogate at byte 1" },
    { SBX_STR("\"\\ud800\\u0041\""), "lone surrogate at byte 1" },
    { SBX_STR("\"\\ud800x\""), "lone surrogate at byte 1" },
    { SBX_STR("\"\\ud800\\n\""), "lone surrogate at byte 1" },
    { SBX_STR("\"\\ud800\\u\""), "invalid escape at byte 1" },
    { SBX_STR("\"\x80\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xc3\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xc0\xaf\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xc1\xbf\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xe0\x80\xaf\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xf0\x8f\xbf\xbf\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xed\xa0\x80\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xf4\x90\x80\x80\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"\xf5\x80\x80\x80\""), "invalid UTF-8 at byte 1" },
    { SBX_STR("\"ab\xe2\x82"), "invalid UTF-8 at byte 3" },
    { SBX_STR("{\"a\":1,\"a\":2}"), "duplicate key \"a\" at byte 7" },
    { SBX_STR("{\"a\":1,\"b\":0,\"\\u0061\":2}"), "duplicate key" },
    { SBX_STR("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}"),
      "duplicate key" },
    { SBX_STR("{\"\":1,\"\":2}"), "duplicate key \"\" at byte 6" },
    { SBX_STR("[{\"x\":{\"a\":1,\"a\":2}}]"), "duplicate key \"a\" at byte" },
    { SBX_STR("{\"code\\u0000x\":1}"), "NUL in a key" },
    { SBX_STR("[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]"),
      "nested too deeply at byte 16" }
};


static void
test_check(void **state)
{
    size_t i;
    char *copy;
    const char *why;
    char buf[256];

    (void) state;

    for (i = 0; i < COUNT(texts); i++) {

        /* In a block of its exact size, so that a sanitizer sees an
           overread. */

        copy = malloc(texts[i].text.len);
        memcpy(copy, texts[i].text.data, texts[i].text.len);
        why = sbx_json_check(copy, texts[i].text.len, buf, sizeof(buf));
        free(copy);

        if (texts[i].error == NULL ? why != NULL
            : why == NULL || strstr(why, texts[i].error) == NULL)
        {
            fail_msg("%.*s: %s", (int) texts[i].text.len, texts[i].text.data,
                     why == NULL ? "accepted" : why);
        }
    }
}


/* Bounds that keep the work in proportion: values, keys, their lengths. */
static void
test_check_bounds(void **state)
{
    size_t i, len;
    char *text, why[256];

    (void) state;

    text = malloc(1 << 20);
    len = 0;
    text[len++] = '[';

    for (i = 0; i < SBX_JSON_VALUES - 1; i++) {
        len += sprintf(text + len, "%s1", i == 0 ? "" : ",");
    }

    text[len] = ']';
    assert_null(sbx_json_check(text, len + 1, why, sizeof(why)));
    len += sprintf(text + len, ",1]");
    assert_non_null(sbx_json_check(text, len, why, sizeof(why)));
    assert_non_null(strstr(why, "too many values"));

    len = sprintf(text, "{");

    for (i = 0; i < SBX_JSON_VALUES - 1; i++) {
        len += sprintf(text + len, "%s\"k%zu\":1", i == 0 ? "" : ",", i);
    }

    text[len] = '}';
    assert_null(sbx_json_check(text, len + 1, why, sizeof(why)));

    /* The last key again, behind thousands. */

    memcpy(strrchr(text, 'k'), "k77", 3);
    len -= 1;
    memcpy(text + len - 3, "\":1}", 5);
    assert_non_null(sbx_json_check(text, len + 1, why, sizeof(why)));
    assert_non_null(strstr(why, "duplicate key \"k77"));

    len = sprintf(text, "{\"%0*d\":1}", SBX_JSON_KEY_BYTES, 0);
    assert_null(sbx_json_check(text, len, why, sizeof(why)));
    len = sprintf(text, "{\"%0*d\":1}", SBX_JSON_KEY_BYTES + 1, 0);
    assert_non_null(sbx_json_check(text, len, why, sizeof(why)));

    free(text);
}


/* For location "" unless the text starts with '@', which means python. */
static const row_t requests[] = {
    { SBX_STR("{\"language\":\"python\",\"code\":\"1\"}"), NULL },
    { SBX_STR("@{\"code\":\"\"}"), NULL },
    { SBX_STR("@{\"code\":\"a\\u0000b\",\"stdin\":\"\\u0000\"}"), NULL },
    { SBX_STR("@{\"code\":\"1\",\"language\":\"py\"}"), NULL },
    { SBX_STR("{\"code\":\"1\",\"language\":\"ruby\",\"encoding\":\"utf-8\"}"),
      NULL },
    { SBX_STR("@{\"code\":\"1\",\"files\":[],\"args\":[],\"env\":{},"
              "\"limits\":{},\"stdin\":\"\",\"encoding\":\"base64\"}"), NULL },

    { SBX_STR("@{\"stop_at_failure\":false,\"compare\":\"lines\","
              "\"code\":\"\",\"cases\":[{}]}"), NULL },

    { SBX_STR("@"), "the body is empty: a JSON object with \"code\" is" },
    { SBX_STR(" \r\n\t"), "the body is empty: a JSON object with "
                          "\"language\" and \"code\" is expected" },
    { SBX_STR("@\0"), "a value was expected at byte 0" },
    { SBX_STR("@[]"), "the body is not a JSON object" },
    { SBX_STR("@\"code\""), "the body is not a JSON object" },
    { SBX_STR("@12"), "the body is not a JSON object" },
    { SBX_STR("@null"), "the body is not a JSON object" },
    { SBX_STR("@print(1)"), "a value was expected at byte 0" },
    { SBX_STR("@{}"), "code: is required" },
    { SBX_STR("{\"code\":\"1\"}"), "language: is required" },
    { SBX_STR("@{\"code\":1}"), "code: a string is expected" },
    { SBX_STR("@{\"code\":null}"), "code: a string is expected" },
    { SBX_STR("@{\"code\":\"\",\"Code\":\"\"}"), "unknown key \"Code\"" },
    { SBX_STR("@{\"code\":\"\",\"timeout\":5}"), "unknown key \"timeout\"" },
    { SBX_STR("{\"code\":\"\",\"language\":1}"), "language: a string" },
    { SBX_STR("{\"code\":\"\",\"language\":\"\"}"), "language: is empty" },
    { SBX_STR("{\"code\":\"\",\"language\":\"a\\u0000\"}"),
      "language: holds a NUL" },
    { SBX_STR("@{\"code\":\"\",\"language\":\"node\"}"),
      "language: \"node\" is not to be had here, only \"python\"" },
    { SBX_STR("@{\"code\":\"\",\"name\":\"a/b.py\"}"), "name: holds a slash" },
    { SBX_STR("@{\"code\":\"\",\"name\":\"\"}"), "name: is empty" },
    { SBX_STR("@{\"code\":\"\",\"name\":\"a\\u0000.py\"}"),
      "name: holds a NUL" },
    { SBX_STR("@{\"code\":\"\",\"name\":5}"), "name: a string" },
    { SBX_STR("@{\"code\":\"\",\"stdin\":5}"), "stdin: a string or" },
    { SBX_STR("@{\"code\":\"\",\"stdin\":null}"), "stdin: a string or" },
    { SBX_STR("@{\"code\":\"\",\"stdin\":{}}"), "stdin: the object is not" },
    { SBX_STR("@{\"code\":\"\",\"stdin\":{\"base64\":\"\",\"x\":1}}"),
      "stdin: the object is not" },
    { SBX_STR("@{\"code\":\"\",\"stdin\":{\"base64\":1}}"),
      "stdin: the object is not" },
    { SBX_STR("@{\"code\":\"\",\"stdin\":{\"base64\":\"QQ\"}}"),
      "stdin.base64: is not valid base64" },
    { SBX_STR("@{\"code\":\"\",\"compare\":\"exact\"}"),
      "compare: is for a batch, and there are no \"cases\" or \"cases_from\"" },
    { SBX_STR("@{\"stop_at_failure\":false,\"code\":\"\",\"stdin\":\"1\"}"),
      "stop_at_failure: is for a batch" },
    { SBX_STR("@{\"code\":\"\",\"args\":\"a\"}"), "args: an array" },
    { SBX_STR("@{\"code\":\"\",\"args\":[\"a\",1]}"), "args[1]: a string" },
    { SBX_STR("@{\"code\":\"\",\"args\":[\"a\",\"\\u0000\"]}"),
      "args[1]: holds a NUL" },
    { SBX_STR("@{\"code\":\"\",\"env\":[]}"), "env: an object" },
    { SBX_STR("@{\"code\":\"\",\"env\":{\"A\":1}}"), "env.A: a string" },
    { SBX_STR("@{\"code\":\"\",\"env\":{\"A=\":\"1\"}}"), "env: the name" },
    { SBX_STR("@{\"code\":\"\",\"env\":{\"\":\"1\"}}"), "has an empty name" },
    { SBX_STR("@{\"code\":\"\",\"env\":{\"A\":\"\\u0000\"}}"),
      "env.A: holds a NUL" },
    { SBX_STR("@{\"code\":\"\",\"env\":{\"LD_PRELOAD\":\"x\"}}"),
      "env.LD_PRELOAD: steers the loader" },
    { SBX_STR("@{\"code\":\"\",\"files\":{}}"), "files: an array" },
    { SBX_STR("@{\"code\":\"\",\"files\":[1]}"), "files[0]: an object" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"content\":\"\"}]}"),
      "files[0].path: is required" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\"}]}"),
      "files[0]: \"content\" or \"base64\" is required" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\",\"content\":\"\","
              "\"base64\":\"\"}]}"),
      "files[0]: \"content\" and \"base64\" contradict each other" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\",\"content\":1}]}"),
      "files[0].content: a string" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\",\"base64\":\"!\"}]}"),
      "files[0].base64: is not valid base64" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\",\"content\":\"\","
              "\"mode\":7}]}"), "files[0]: unknown key \"mode\"" },
    { SBX_STR("@{\"code\":\"\",\"files\":"
              "[{\"path\":\"../a\",\"content\":\"\"}]}"),
      "files[0].path: has a \".\" or \"..\"" },
    { SBX_STR("@{\"code\":\"\",\"files\":"
              "[{\"path\":\"/a\",\"content\":\"\"}]}"),
      "files[0].path: is absolute" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\\u0000\","
              "\"content\":\"\"}]}"), "files[0].path: holds a NUL" },
    { SBX_STR("@{\"code\":\"\",\"files\":[{\"path\":\"a\",\"content\":\"\"},"
              "{\"path\":\"a\",\"content\":\"\"}]}"),
      "files[1]: path \"a\" is in the way" },
    { SBX_STR("@{\"files\":[{\"path\":\"main.py\",\"content\":\"\"}],"
              "\"code\":\"\"}"), "files[0]: path \"main.py\" is in the way" },
    { SBX_STR("@{\"files\":[{\"path\":\"x.py\",\"content\":\"\"}],"
              "\"code\":\"\",\"name\":\"x.py\"}"),
      "files[0]: path \"x.py\" is in the way" },
    { SBX_STR("@{\"code\":\"\",\"encoding\":\"latin1\"}"),
      "encoding: \"utf-8\" or \"base64\"" },
    { SBX_STR("@{\"code\":\"\",\"encoding\":1}"), "encoding:" },
    { SBX_STR("@{\"code\":\"\",\"limits\":[]}"), "limits: an object" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"ram\":1}}"),
      "limits: unknown key \"ram\"" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":null}}"),
      "limits.timeout: " },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":true}}"),
      "limits.timeout: " },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":-5}}"),
      "from 1ms to 24h is expected, not -5" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":1.5}}"), "not 1.5" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":1e3}}"), "not 1e3" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":0}}"), "not 0" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":\"5 s\"}}"), "not 5 s" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"timeout\":\"5s\\u0000\"}}"),
      "limits.timeout: " },
    { SBX_STR("@{\"code\":\"\",\"limits\":"
              "{\"memory\":99999999999999999999999999}}"),
      "limits.memory: a size" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"memory\":18446744073709551615}}"),
      "limits.memory: a size" },
    { SBX_STR("@{\"code\":\"\",\"limits\":"
              "{\"memory\":-99999999999999999999999999}}"),
      "limits.memory: a size" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"memory\":\"64x\"}}"), "not 64x" },
    { SBX_STR("@{\"code\":\"\",\"limits\":{\"processes\":\"2k\"}}"),
      "limits.processes: a whole number from 1 to 4096" }
};


static void
test_requests(void **state)
{
    int rc;
    size_t i;
    sbx_str_t text;
    char why[256];
    sbx_str_t language;
    sbx_request_t req;

    (void) state;

    for (i = 0; i < COUNT(requests); i++) {
        text = requests[i].text;
        language = SBX_STR("");

        if (text.data[0] == '@') {
            text.data++;
            text.len--;
            language = SBX_STR("python");
        }

        errno = ENOMEM;
        rc = sbx_request_parse(&req, text.data, text.len, language, why,
                               sizeof(why));

        if (requests[i].error == NULL ? rc != 0
            : rc != -1 || strstr(why, requests[i].error) == NULL
              || errno != 0)
        {
            fail_msg("%.*s: rc %d, %s", (int) text.len, text.data, rc, why);
        }

        sbx_request_clear(&req);
    }
}


static void
test_filled(void **state)
{
    char why[256];
    sbx_request_t req;
    sbx_job_t *job;
    sbx_str_t text = SBX_STR(
        "{\"language\":\"js\",\"code\":\"a\\u00e9\\ud83d\\ude00\\u0000b\","
        "\"name\":\"x.mjs\",\"stdin\":{\"base64\":\"/wAK\"},"
        "\"args\":[\"-v\",\"\",\"\\u20ac\"],"
        "\"env\":{\"A\":\"1=2\",\"B\":\"\"},"
        "\"files\":[{\"path\":\"d/a\",\"content\":\"x\\u0000y\"},"
        "{\"base64\":\"QUI=\",\"path\":\"b\"},"
        "{\"path\":\"c\",\"base64\":\"\"}],"
        "\"limits\":{\"memory\":\"64m\",\"timeout\":1500,\"output\":0,"
        "\"cpu_time\":\"1s\"},\"encoding\":\"base64\"}");

    (void) state;

    assert_int_equal(sbx_request_parse(&req, text.data, text.len,
                                       SBX_STR(""), why, sizeof(why)), 0);
    job = &req.job;

    assert_str(job->language, "node");
    assert_int_equal(job->code.len, 9);
    assert_memory_equal(job->code.data, "a\xc3\xa9\xf0\x9f\x98\x80\0b", 9);
    assert_str(job->name, "x.mjs");
    assert_int_equal(job->ncases, 1);
    assert_int_equal(job->cases[0].input.len, 3);
    assert_memory_equal(job->cases[0].input.data, "\xff\0\n", 3);
    assert_int_equal(job->nargs, 3);
    assert_str(job->args[0], "-v");
    assert_str(job->args[1], "");
    assert_str(job->args[2], "\xe2\x82\xac");
    assert_int_equal(job->nenv, 2);
    assert_str(job->env[0], "A=1=2");
    assert_str(job->env[1], "B=");
    assert_int_equal(job->nfiles, 3);
    assert_str(job->files[0].path, "d/a");
    assert_int_equal(job->files[0].data.len, 3);
    assert_str(job->files[1].data, "AB");
    assert_int_equal(job->files[2].data.len, 0);

    assert_int_equal(req.encoding, SBX_ENCODING_BASE64);
    assert_int_equal(req.asked, 1u << SBX_LIMIT_MEMORY
                                | 1u << SBX_LIMIT_TIMEOUT
                                | 1u << SBX_LIMIT_OUTPUT
                                | 1u << SBX_LIMIT_CPU_TIME);
    assert_int_equal(req.wanted[SBX_LIMIT_MEMORY], 64 << 20);
    assert_int_equal(req.wanted[SBX_LIMIT_TIMEOUT], 1500);
    assert_int_equal(req.wanted[SBX_LIMIT_OUTPUT], 0);
    assert_int_equal(req.wanted[SBX_LIMIT_CPU_TIME], 1000);

    /* Wishes are for the caller to compare; the job has the defaults. */

    assert_int_equal(job->limits[SBX_LIMIT_MEMORY], 128 << 20);

    sbx_request_clear(&req);
    sbx_request_clear(&req);
}


static void
test_defaults(void **state)
{
    size_t i;
    char why[256];
    sbx_request_t req;
    sbx_str_t text = SBX_STR("{\"code\":\"1\"}");
    static const struct {
        sbx_str_t location;
        const char *language, *name;
    } rows[] = {
        { SBX_STR("python"), "python", "main.py" },
        { SBX_STR("js"), "node", "main.js" },
        { SBX_STR("ruby"), "ruby", "main" }
    };

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        assert_int_equal(sbx_request_parse(&req, text.data, text.len,
                                           rows[i].location, why,
                                           sizeof(why)), 0);
        assert_str(req.job.language, rows[i].language);
        assert_str(req.job.name, rows[i].name);
        assert_int_equal(req.job.ncases, 1);
        assert_int_equal(req.job.cases[0].input.len, 0);
        assert_int_equal(req.asked, 0);
        sbx_request_clear(&req);
    }
}


/* One more than a job holds of each. */
static void
test_too_many(void **state)
{
    size_t i, k, len;
    char *text, why[256];
    sbx_request_t req;
    static const struct {
        const char *open, *close, *element, *error;
        size_t max;
    } rows[] = {
        { "\"args\":[", "]", "\"a%zu\"", "args: more than 256",
          SBX_ARGS_MAX },
        { "\"env\":{", "}", "\"a%zu\":\"\"", "env: more than 256",
          SBX_ENV_MAX },
        { "\"files\":[", "]", "{\"path\":\"a%zu\",\"content\":\"\"}",
          "files: more than 256", SBX_FILES_MAX }
    };

    (void) state;

    text = malloc(1 << 16);

    for (i = 0; i < 2 * COUNT(rows); i++) {
        size_t more = i % 2;

        len = sprintf(text, "{\"code\":\"\",%s", rows[i / 2].open);

        for (k = 0; k < rows[i / 2].max + more; k++) {
            len += sprintf(text + len, "%s", k == 0 ? "" : ",");
            len += sprintf(text + len, rows[i / 2].element, k);
        }

        len += sprintf(text + len, "%s}", rows[i / 2].close);

        assert_int_equal(sbx_request_parse(&req, text, len,
                                           SBX_STR("python"), why,
                                           sizeof(why)),
                         more ? -1 : 0);
        assert_true(!more || strstr(why, rows[i / 2].error) != NULL);
        sbx_request_clear(&req);
    }

    free(text);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_bounds),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_filled),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_too_many)
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
