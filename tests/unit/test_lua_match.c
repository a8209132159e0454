/*
 * test_lua_match.c: our metered patterns against the stock ones.
 *
 * Patterns and texts are made at random from an alphabet that hits all kinds
 * of items; find, match, gmatch and gsub of a policy's library must answer as
 * those of Lua 5.4 do, errors included.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "../../lua/sbx_lua_private.h"

#define ROUNDS  60000


/* Calls each function the same way and joins what it answers to one text. */
static const char script[] =
    "local S = ...\n"
    "local function join(ok, ...)\n"
    "  local t = { tostring(ok) }\n"
    "  for i = 1, select('#', ...) do\n"
    "    t[#t + 1] = tostring((select(i, ...)))\n"
    "  end\n"
    "  local all = ''\n"
    "  for i = 1, #t do all = all .. t[i] .. '|' end\n"
    "  return all\n"
    "end\n"
    "return function(s, p, r, init)\n"
    "  local out = join(pcall(S.find, s, p, init))\n"
    "    .. join(pcall(S.find, s, p, init, true))\n"
    "    .. join(pcall(S.match, s, p, init))\n"
    "    .. join(pcall(S.gsub, s, p, r))\n"
    "    .. join(pcall(S.gsub, s, p, r, init))\n"
    "    .. join(pcall(S.gsub, s, p, { a = 1, b = 'x', ab = false }))\n"
    "    .. join(pcall(S.gsub, s, p, function(a, b) return b end))\n"
    "  local n = 0\n"
    "  local ok, f = pcall(S.gmatch, s, p, init)\n"
    "  while ok and n < 20 do\n"
    "    local got = join(pcall(f))\n"
    "    out, n = out .. got, n + 1\n"
    "    if got == 'true|' or got:sub(1, 5) == 'false' then break end\n"
    "  end\n"
    "  return out\n"
    "end\n";

static const char *const pieces[] = {
    "a", "b", "c", ".", "%a", "%d", "%s", "%W", "%.", "[ab]", "[^a]", "[a-c]",
    "[%a_]", "[]]", "[^]]", "[a-]", "*", "+", "-", "?", "(", ")", "()", "(a)",
    "(.-)", "%1", "%2", "%b()", "%bab", "%f[a]", "%f[%A]", "^", "$", "%", "[",
    "%f", "x", "1", " ", "%0", "]", "[%", "%b", "%bx",
};

static const char *const texts[] = {
    "a", "b", "c", "(", ")", "ab", " ", "1", "x", "_", "]", "-", "%", ".",
};


static const char *
random_text(char *out, const char *const *from, size_t n, int most)
{
    int k = rand() % (most + 1);

    *out = '\0';

    while (k-- > 0) {
        strcat(out, from[(size_t) rand() % n]);
    }

    return out;
}


/* Leaves the answering function on the stack. */
static void
load_script(lua_State *L)
{
    assert_int_equal(luaL_loadstring(L, script), LUA_OK);
    lua_insert(L, -2);
    assert_int_equal(lua_pcall(L, 1, 1, 0), LUA_OK);
}


static const char *
ask(lua_State *L, const char *s, const char *p, const char *r, int init)
{
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    lua_pushstring(L, s);
    lua_pushstring(L, p);
    lua_pushstring(L, r);
    lua_pushinteger(L, init);

    if (lua_pcall(L, 4, 1, 0) != LUA_OK) {
        fail_msg("%s", lua_tostring(L, -1));
    }

    return lua_tostring(L, -1);
}


static void
test_same_as_stock(void **state)
{
    int i, init;
    char s[64], p[64], r[64];
    const char *theirs, *ours;
    lua_State *L, *own;
    sbx_policy_t policy = { .bounds = { 0, 64 << 20, 0 } };

    (void) state;

    L = luaL_newstate();
    luaL_requiref(L, "_G", luaopen_base, 1);
    luaL_requiref(L, "string", luaopen_string, 1);
    load_script(L);
    lua_replace(L, 1);

    own = sbx_lua_state_new(&policy);
    luaL_requiref(own, "_G", luaopen_base, 1);
    luaL_requiref(own, "string", luaopen_string, 1);
    lua_settop(own, 0);
    lua_newtable(own);
    luaL_setfuncs(own, sbx_lua_find_functions, 0);
    load_script(own);

    srand(20);

    for (i = 0; i < ROUNDS; i++) {
        random_text(s, texts, sizeof(texts) / sizeof(texts[0]), 8);
        random_text(p, pieces, sizeof(pieces) / sizeof(pieces[0]), 5);
        strcpy(r, i % 7 == 0 ? "<%1>" : i % 3 == 0 ? "%0%%" : "%2");
        init = rand() % 12 - 4;

        /* without a bound: this compares answers, the other test speed */
        policy.bound.budget = UINT64_MAX;
        policy.bound.deadline_ns = INT64_MAX;

        theirs = ask(L, s, p, r, init);
        ours = ask(own, s, p, r, init);

        if (strcmp(theirs, ours) != 0) {
            fail_msg("text \"%s\" pattern \"%s\" by \"%s\" from %d:\n"
                     "stock %s\nours  %s", s, p, r, init, theirs, ours);
        }
    }

    lua_close(own);
    lua_close(L);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_stock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
