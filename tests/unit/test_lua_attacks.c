/*
 * test_lua_attacks.c: policies that try to hang, fill or crash a worker.
 *
 * Each attack runs in a process of its own under a timer, four ways: inside
 * request(), limits() and response(), and while the file is loaded.  It has to
 * end within the deadline and one step of the count hook, by CPU time, and the next
 * call of the same policy must give the right answer.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lua/sbx_lua.h"

#define DEADLINE_MS     10

/* What one step may do at most, and how much slower Lua's way of it may be. */
#define STEP_BYTES      (8 << 20)
#define STEP_FACTOR     20

typedef struct {
    const char *name;
    const char *code;
} attack_t;


static const attack_t attacks[] = {
    { "while true", "while true do end" },
    { "pcall loop",
      "while true do pcall(function() while true do end end) end" },
    { "nested pcall and xpcall",
      "local function f(n) if n > 0 then pcall(f, n - 1) end "
      "while true do end end "
      "while true do xpcall(f, function() while true do end end, 150) end" },
    { "nested pcall",
      "local function f(n) if n > 0 then pcall(f, n - 1) end "
      "while true do end end while true do pcall(f, 150) end" },
    { "xpcall with a looping handler",
      "xpcall(function() while true do end end, "
      "function() while true do end end)" },
    { "<close> loop",
      "local x <close> = setmetatable({}, "
      "{ __close = function() while true do end end }) while true do end" },
    { "coroutine loop",
      "coroutine.wrap(function() while true do end end)()" },
    { "coroutine.resume churn",
      "while true do coroutine.resume(coroutine.create("
      "function() for i = 1, 300 do end end)) end" },
    { "coroutine pcall churn",
      "while true do coroutine.resume(coroutine.create(function() "
      "while true do pcall(function() while true do end end) end end)) end" },
    { "__gc loop",
      "setmetatable({}, { __gc = function() while true do end end }) "
      "local t for i = 1, 1e5 do t = {} end" },
    { "__gc set late",
      "local mt = { __gc = false } local o = setmetatable({}, mt) "
      "mt.__gc = function() while true do end end o = nil "
      "for i = 1, 1e5 do o = {} end" },
    { "__gc set late on a plain metatable",
      "local mt = {} local o = setmetatable({}, mt) "
      "mt.__gc = function() while true do end end o = nil "
      "for i = 1, 1e5 do o = {} end" },
    { "memory: table", "local t = {} for i = 1, 1e9 do t[i] = i end" },
    { "memory: doubled string",
      "local s = 'x' while true do s = s .. s end" },
    { "memory: pcall around it",
      "while true do pcall(function() local s = 'x' "
      "while true do s = s .. s end end) end" },
    { "rep, long", "return #string.rep('a', 1e9)" },
    { "rep, empty", "return #string.rep('', 10^15 // 1 | 0)" },
    { "rep, empty with separator",
      "return #string.rep('', 10^15 // 1 | 0, 'x')" },
    { "pattern (.-){9}",
      "return (('a'):rep(3000)):find(('.-'):rep(9) .. 'b')" },
    { "pattern in gsub", "return (('a'):rep(30000)):gsub('.-.-.-b', '')" },
    { "pattern in gmatch",
      "for x in ('a'):rep(30000):gmatch('.-.-.-b') do end" },
    { "pattern with a frontier",
      "return ('a'):rep(30000):match('(.-)%f[b](.-)%f[b](.-)b')" },
    { "pattern with balance",
      "return ('('):rep(100000):gsub('%b()', '')" },
    { "pattern with a long set",
      "return ('a'):rep(100000):find('[' .. ('b'):rep(100000) .. ']')" },
    { "pattern caught by pcall",
      "while true do pcall(string.find, ('a'):rep(3000), "
      "('.-'):rep(9) .. 'b') end" },
    { "table.move over nothing", "table.move({}, 1, 10^15 // 1 | 0, 2)" },
    { "table.remove with __len",
      "table.remove(setmetatable({}, "
      "{ __len = function() return 10^15 // 1 | 0 end }), 1)" },
    { "table.insert with __len",
      "table.insert(setmetatable({}, "
      "{ __len = function() return 10^15 // 1 | 0 end }), 1, 1)" },
    { "table.concat with __index",
      "table.concat(setmetatable({}, { __index = function() return '' end }),"
      " '', 1, 10^15 // 1 | 0)" },
    { "table.insert at the front",
      "local t = {} for i = 1, 1e6 do table.insert(t, 1, i) end" },
    { "sort of long strings",
      "local s = ('a'):rep(500000) local t = {} "
      "for i = 1, 20000 do t[i] = s end table.sort(t)" },
    { "sort with a lying order",
      "local t = {} for i = 1, 10000 do t[i] = i end "
      "table.sort(t, function() return true end)" },
    { "sort that grows its table",
      "local t = { 3, 2, 1 } while true do table.sort(t, function(a, b) "
      "t[#t + 1] = 1 return a < b end) end" },
    { "comparison of long strings",
      "local a, b = ('a'):rep(500000) .. 'b', ('a'):rep(500000) .. 'c' "
      "local n = 0 while true do if a < b then n = n + 1 end end" },
    { "concatenation of long strings",
      "local a = ('a'):rep(400000) while true do local b = a .. 'x' end" },
    { "concatenation of longer strings",
      "local a = ('a'):rep(1000) while #a < 4e6 do a = a .. a end "
      "while true do local b = a .. 'x' end" },
    { "next over an emptied table",
      "local t = {} for i = 1, 60000 do t['k' .. i] = i end "
      "for i = 1, 59999 do t['k' .. i] = nil end while true do next(t) end" },
    { "pcall in a sort comparator",
      "table.sort({ 3, 2, 1 }, function(a, b) while true do "
      "pcall(function() while true do end end) end end)" },
    { "many keys",
      "local t = {} for i = 1, 1e9 do t[i % 50000 .. 'k'] = i end" },
    { "deep recursion", "local function f() return 1 + f() end return f()" },
    { "C stack by gsub",
      "local function f(s) return (s:gsub('.', f)) end return f('a')" },
    { "C stack by sort",
      "local function f() table.sort({ 2, 1 }, f) end f()" },
    { "C stack by __tostring",
      "local t = setmetatable({}, "
      "{ __tostring = function(s) return tostring(s) end }) "
      "return tostring(t)" },
    { "string.format width", "return #string.format('%99.99f', 1e308)" },
    { "utf8.char, many",
      "return #utf8.char(table.unpack((function() local t = {} "
      "for i = 1, 3000 do t[i] = 0x7FFFFFFF end return t end)()))" },
    { "unpack, many", "return select('#', table.unpack({}, 1, 1e7))" },
    { "utf8.len of long strings",
      "local s = ('\\u{e4}'):rep(1000) while #s < 4e6 do s = s .. s end "
      "while true do utf8.len(s) end" },
    { "upper of long strings",
      "local s = ('a'):rep(1000) while #s < 4e6 do s = s .. s end "
      "while true do s:upper() end" },
    { "json of a table in itself",
      "local t = {} t.t = t while true do pcall(json, t) end" },
    { "json, wide",
      "local s = ('\\1'):rep(1e5) local t = {} for i = 1, 1000 do t[i] = s "
      "end return json(t)" },
    { "error with a looping __tostring",
      "error(setmetatable({}, "
      "{ __tostring = function() while true do end end }))" },
    { "error in an endless pcall chain",
      "local e = setmetatable({}, { __index = function(t, k) "
      "return t[k .. 'x'] end }) while true do pcall(function() "
      "return e.a end) end" },
    { "base64 of long strings",
      "local s = ('a'):rep(2000000) while true do base64.encode(s) end" },
    { "base64, back and forth",
      "local s = ('a'):rep(2000000) while true do "
      "s = base64.decode(base64.encode(s)) end" },
    { "base64, growing",
      "local s = 'x' while true do s = base64.encode(s) end" },
    { "base64, wrong at its end",
      "local s = ('a'):rep(3999999) .. '!' while true do "
      "base64.decode(s) end" },
    { "hex, growing", "local s = 'x' while true do s = hex.encode(s) end" },
    { "hex of long strings",
      "local s = ('00'):rep(1500000) while true do hex.decode(s) end" },
    { "digests of long strings",
      "local s = ('a'):rep(3000000) while true do sha256(s) end" },
    { "digests in pcall",
      "local s = ('a'):rep(3000000) while true do pcall(md5, s) end" },
    { "equal of long strings",
      "local s = ('a'):rep(3000000) while true do equal(s, s) end" },
    { "query of many parameters",
      "local s = ('a&'):rep(1500000) while true do query(s) end" },
    { "query of one long parameter",
      "local s = ('%41'):rep(1000000) while true do query(s) end" },
    { "query of nothing",
      "local s = ('&'):rep(3000000) while true do query(s) end" },
    { "size of a long number",
      "local s = ('1'):rep(3000000) while true do size(s) time(s) end" },
    { "JSON text, deep",
      "local s = ('['):rep(3000000) while true do json.decode(s) end" },
    { "JSON text, many arrays",
      "local s = '[' .. ('[],'):rep(1000000) .. '1]' while true do "
      "pcall(json.decode, s) end" },
    { "JSON text, many keys",
      "local t = {} for i = 1, 9000 do t['k' .. i] = i end "
      "local s = json(t) while true do json.decode(s) end" },
    { "JSON text, one long string",
      "local s = '\"' .. ('a'):rep(3000000) .. '\"' while true do "
      "json.decode(s) end" },
    { "JSON text, many escapes",
      "local s = '\"' .. ('\\\\u0041'):rep(500000) .. '\"' while true do "
      "json.decode(s) end" },
    { "JSON text, white space",
      "local s = (' '):rep(3000000) .. '1' while true do json.decode(s) "
      "end" },
    { "JSON text, a long number",
      "local s = ('1'):rep(3000000) while true do json.decode(s) end" },
    { "JSON text, an endless string",
      "local s = '\"' .. ('a'):rep(3000000) while true do json.decode(s) "
      "end" },
    { "pairs that answer pairs",
      "local t = setmetatable({}, { __pairs = function(t) "
      "return pairs(t) end }) pairs(t)" },
    { "pairs that answer an endless walk",
      "local t = setmetatable({}, { __pairs = function(t) "
      "return function() return 1 end, t end }) for k in pairs(t) do end" },
    { "gmatch without an end",
      "while true do for x in ('a'):rep(1000):gmatch('') do end end" },
    { "error with a huge message",
      "error(('x'):rep(3000000))" },
    { "errors with huge messages",
      "local s = ('x'):rep(3000000) while true do pcall(error, s .. 1) end" },
    { "closures",
      "local f = type while true do local g = f "
      "f = function() return g end end" },
    { "select from the end",
      "while true do select(-1, table.unpack({}, 1, 250)) end" },
    { "tostring and tonumber of long strings",
      "local s = ('1'):rep(3000000) while true do tonumber(s) "
      "tostring(s) end" },
    { "string.byte, many",
      "local s = ('a'):rep(200000) while true do "
      "pcall(string.byte, s, 1, -1) end" },
    { "random ranges", "while true do math.random(0) end" },
    { "goto", "::a:: goto a" },
    { "<close> that fails",
      "while true do pcall(function() local x <close> = setmetatable({}, "
      "{ __close = function() error('x') end }) error('y') end) end" },
    { "__eq and __lt that loop",
      "local t = setmetatable({}, { __lt = function() while true do end end, "
      "__eq = function() while true do end end }) "
      "pcall(function() return t < t end) return t == setmetatable({}, "
      "getmetatable(t))" },
    { "__concat that grows",
      "local t = setmetatable({}, { __concat = function(a, b) "
      "return a .. b end }) return t .. 'x'" },
    { "writes to the library",
      "pcall(function() string.rep = nil end) "
      "pcall(function() math.floor = error end) "
      "pcall(table.insert, string, 'x') "
      "pcall(function() getmetatable('').__index = nil end) "
      "pcall(setmetatable, string, nil) type = nil pairs = nil "
      "json = nil while true do end" },
};


static double
cpu_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double) ts.tv_sec * 1e3 + (double) ts.tv_nsec / 1e6;
}


/* One step on this machine, now: filling fresh memory. */
static double
step_ms(void)
{
    int i;
    char *p;
    double start, worst = 0;

    for (i = 0; i < 3; i++) {
        start = cpu_ms();
        p = malloc(STEP_BYTES);
        memset(p, i + 1, STEP_BYTES);
        __asm__ volatile ("" : : "r" (p) : "memory");
        free(p);
        start = cpu_ms() - start;
        worst = start > worst ? start : worst;
    }

    return worst;
}


static void
write_policy(const char *path, const char *format, const char *code)
{
    FILE *f = fopen(path, "w");

    if (f == NULL || fprintf(f, format, code, code, code) < 0
        || fclose(f) != 0)
    {
        _exit(20);
    }
}


static const char calls_format[] =
    "return {\n"
    "  request = function(req)\n"
    "    if req.body == 'attack' then %s end\n"
    "    return { code = base64.decode('YQ=='), stdin = json({ req.body }) }\n"
    "  end,\n"
    "  limits = function(job, runtime)\n"
    "    if job.language == 'attack' then %s end\n"
    "    return { memory = ('2'):rep(1) .. 'm', timeout = math.floor(1500.5),"
    " factor = 1.5 }\n"
    "  end,\n"
    "  response = function(req, verdict)\n"
    "    if req.method == 'ATTACK' then %s end\n"
    "    for k in pairs({ x = 1 }) do verdict.error = k .. type(k) end\n"
    "    return { body = json({ error = verdict.error:upper() }) }\n"
    "  end,\n"
    "}\n";


static const sbx_policy_runtime_t python = {
    SBX_STR("python"), 20 << 20, 8 << 20
};


/* 0: the policy answers as it should. */
static int
ask_request(sbx_policy_t *policy, const char *body)
{
    int rc;
    char err[512];
    sbx_policy_wish_t wish;
    sbx_policy_request_t req = { .body = { body, strlen(body) } };
    const sbx_job_t *job = &wish.native.job;

    rc = sbx_policy_request(policy, &req, &wish, err, sizeof(err));
    rc = rc == 0 && job->code.len == 1 && job->code.data[0] == 'a'
         && job->ncases == 1 && job->cases[0].input.len == 6
         && memcmp(job->cases[0].input.data, "[\"ok\"]", 6) == 0 ? 0 : -1;
    sbx_policy_wish_clear(&wish);

    return rc;
}


static int
ask_limits(sbx_policy_t *policy, const char *language)
{
    int rc;
    unsigned i;
    char err[512];
    sbx_job_t job;
    uint64_t ceilings[SBX_LIMIT_COUNT];
    sbx_policy_request_t req = { .method = SBX_STR("POST") };

    sbx_job_init(&job);
    job.language = (sbx_str_t) { language, strlen(language) };
    job.factor_permille = 1250;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        ceilings[i] = sbx_limits[i].max;
    }

    rc = sbx_policy_limits(policy, &job, ceilings, &req, &python, err,
                           sizeof(err));

    return rc == 0 && job.limits[SBX_LIMIT_MEMORY] == 2 << 20
           && job.limits[SBX_LIMIT_TIMEOUT] == 1500
           && job.factor_permille == 1500 ? 0 : -1;
}


static int
ask_response(sbx_policy_t *policy, const char *method)
{
    int rc;
    char err[512];
    sbx_verdict_t v;
    sbx_policy_response_t out;
    sbx_policy_request_t req = {
        .method = { method, strlen(method) }
    };

    sbx_verdict_init(&v);
    v.output = SBX_STR("2\n");

    rc = sbx_policy_response(policy, &req, &v, &out, err, sizeof(err));
    rc = rc == 1 && out.body.len == 19
         && memcmp(out.body.data, "{\"error\":\"XSTRING\"}", 19) == 0 ? 0 : -1;
    sbx_policy_response_clear(&out);

    return rc;
}


/* Exit codes: 0 well, 10.. took too long, 11.. the next call was wrong. */
static int
attack_calls(const char *path, const char *code, double *worst)
{
    double start;
    char err[512];
    sbx_policy_t *policy;
    int (*const ask[])(sbx_policy_t *, const char *) = {
        ask_request, ask_limits, ask_response
    };
    static const char *const evil[] = { "attack", "attack", "ATTACK" };
    unsigned i;

    write_policy(path, calls_format, code);
    policy = sbx_policy_open(path, NULL, NULL, err, sizeof(err));

    if (policy == NULL) {
        fprintf(stderr, "%s\n", err);
        return 12;
    }

    for (i = 0; i < 6; i++) {
        start = cpu_ms();
        (void) ask[i % 3](policy, evil[i % 3]);
        start = cpu_ms() - start;
        *worst = start > *worst ? start : *worst;

        if (ask_request(policy, "ok") != 0
            || ask_limits(policy, "python") != 0
            || ask_response(policy, "POST") != 0)
        {
            return 11;
        }
    }

    sbx_policy_close(policy);
    return 0;
}


static int
attack_load(const char *path, const char *code, double *worst)
{
    double start;
    char err[512];
    sbx_policy_t *policy;

    write_policy(path, "if true then %s end return {}\n", code);

    start = cpu_ms();
    policy = sbx_policy_open(path, NULL, NULL, err, sizeof(err));
    start = cpu_ms() - start;
    *worst = start > *worst ? start : *worst;
    sbx_policy_close(policy);

    return 0;
}


static int
attack_run(const attack_t *attack)
{
    int rc;
    double worst = 0;
    char path[64];
    static const struct itimerval hang = { { 0, 0 }, { 5, 0 } };

    /* by CPU time: a busy host is no hang */
    setitimer(ITIMER_PROF, &hang, NULL);
    snprintf(path, sizeof(path), "/tmp/sbx-attack-%d.lua", (int) getpid());

    rc = attack_calls(path, attack->code, &worst);

    if (rc == 0) {
        rc = attack_load(path, attack->code, &worst);
    }

    unlink(path);

    if (getenv("SBX_TEST_VERBOSE") != NULL) {
        fprintf(stderr, "%8.2f ms  %s\n", worst, attack->name);
    }

    if (rc == 0 && worst > DEADLINE_MS + STEP_FACTOR * step_ms()) {
        fprintf(stderr, "took %.1f ms\n", worst);
        return 10;
    }

    return rc;
}


static void
test_attack(void **state)
{
    pid_t pid;
    int status;
    const attack_t *attack = *state;

    pid = fork();
    assert_true(pid >= 0);

    if (pid == 0) {
        _exit(attack_run(attack));
    }

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}


int
main(void)
{
    enum { COUNT = sizeof(attacks) / sizeof(attacks[0]) };
    unsigned i;
    struct CMUnitTest tests[COUNT];

    for (i = 0; i < COUNT; i++) {
        tests[i] = (struct CMUnitTest) {
            .name = attacks[i].name,
            .test_func = test_attack,
            .initial_state = (void *) &attacks[i],
        };
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
