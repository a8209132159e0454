/*
 * sbx_lua_match.c: Lua patterns with a step count.
 *
 * Runs in the worker.  The language and its results are those of Lua 5.4's
 * manual, section 6.4.1; the stock matcher cannot be used because it
 * backtracks for hours inside one instruction ("(.-)(.-)(.-)b" on a line that a
 * stranger sent), where no hook reaches.  Here every step is charged.
 */

#include <ctype.h>
#include <string.h>

#include "sbx_lua_match.h"

#define MATCH_DEPTH     200     /* C stack: some 100 bytes a level */

/* A step takes a quarter of an instruction's time; charged 64 at once. */
#define STEPS_AT_ONCE   64
#define STEPS_PER_UNIT  4


static const char *match_here(sbx_matcher_t *m, const char *s, const char *p);


static void
take_step(sbx_matcher_t *m)
{
    if (++m->steps % STEPS_AT_ONCE == 0) {
        sbx_lua_meter(m->L, STEPS_AT_ONCE / STEPS_PER_UNIT);
    }
}


/* isalpha and the like, by the small letter that names the class */
static int
in_class(int c, int class)
{
    int in;

    switch (tolower(class)) {
    case 'a': in = isalpha(c); break;
    case 'c': in = iscntrl(c); break;
    case 'd': in = isdigit(c); break;
    case 'g': in = isgraph(c); break;
    case 'l': in = islower(c); break;
    case 'p': in = ispunct(c); break;
    case 's': in = isspace(c); break;
    case 'u': in = isupper(c); break;
    case 'w': in = isalnum(c); break;
    case 'x': in = isxdigit(c); break;
    default: return class == c;
    }

    return isupper(class) ? !in : !!in;
}


/* The end of the set that begins at p ('['): behind its ']'. */
static const char *
set_end(sbx_matcher_t *m, const char *p)
{
    p++;

    if (p < m->pattern_end && *p == '^') {
        p++;
    }

    do {        /* a ']' in the first place stands for itself */
        if (p >= m->pattern_end) {
            luaL_error(m->L, "malformed pattern (missing ']')");
        }

        if (*p++ == SBX_MATCH_ESCAPE) {
            if (p >= m->pattern_end) {
                luaL_error(m->L, "malformed pattern (missing ']')");
            }

            p++;
        }

        take_step(m);

    } while (p >= m->pattern_end || *p != ']');

    return p + 1;
}


/* The end of the single-character item at p. */
static const char *
item_end(sbx_matcher_t *m, const char *p)
{
    if (*p == '[') {
        return set_end(m, p);
    }

    if (*p++ == SBX_MATCH_ESCAPE) {
        if (p >= m->pattern_end) {
            luaL_error(m->L, "malformed pattern (ends with '%%')");
        }

        p++;
    }

    return p;
}


/* Is c in the set from p ('[') to last (its ']')? */
static int
in_set(sbx_matcher_t *m, int c, const char *p, const char *last)
{
    int found = 1;

    p++;

    if (*p == '^') {
        found = 0;
        p++;
    }

    while (p < last) {
        take_step(m);

        if (*p == SBX_MATCH_ESCAPE) {
            if (in_class(c, (unsigned char) p[1])) {
                return found;
            }

            p += 2;

        } else if (p[1] == '-' && p + 2 < last) {
            if ((unsigned char) p[0] <= c && c <= (unsigned char) p[2]) {
                return found;
            }

            p += 3;

        } else if ((unsigned char) *p++ == c) {
            return found;
        }
    }

    return !found;
}


/* Does the item from p to end match the one byte at s? */
static int
match_one(sbx_matcher_t *m, const char *s, const char *p, const char *end)
{
    int c;

    take_step(m);

    if (s >= m->text_end) {
        return 0;
    }

    c = (unsigned char) *s;

    switch (*p) {

    case '.':
        return 1;

    case SBX_MATCH_ESCAPE:
        return in_class(c, (unsigned char) p[1]);

    case '[':
        return in_set(m, c, p, end - 1);

    default:
        return (unsigned char) *p == c;
    }
}


/* %bxy, p at the x */
static const char *
match_balance(sbx_matcher_t *m, const char *s, const char *p)
{
    char open, close;
    long level = 1;

    if (p + 1 >= m->pattern_end) {
        luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    }

    open = p[0];
    close = p[1];

    if (s >= m->text_end || *s != open) {
        return NULL;
    }

    while (++s < m->text_end) {
        take_step(m);

        if (*s == close) {
            if (--level == 0) {
                return s + 1;
            }

        } else if (*s == open) {
            level++;
        }
    }

    return NULL;
}


/* %f[set], p at the '[': is s where the set begins to hold? */
static int
match_frontier(sbx_matcher_t *m, const char *s, const char *p, const char *end)
{
    int before, here;

    before = s == m->text ? 0 : (unsigned char) s[-1];
    here = s == m->text_end ? 0 : (unsigned char) *s;

    return !in_set(m, before, p, end - 1) && in_set(m, here, p, end - 1);
}


/* * and +: as many as there are, then fewer */
static const char *
match_most(sbx_matcher_t *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t n = 0;
    const char *found;

    while (match_one(m, s + n, p, end)) {
        n++;
    }

    for ( ; n >= 0; n--) {
        take_step(m);
        found = match_here(m, s + n, end + 1);

        if (found != NULL) {
            return found;
        }
    }

    return NULL;
}


/* -: none, then more */
static const char *
match_least(sbx_matcher_t *m, const char *s, const char *p, const char *end)
{
    const char *found;

    for ( ;; ) {
        found = match_here(m, s, end + 1);

        if (found != NULL) {
            return found;
        }

        if (!match_one(m, s, p, end)) {
            return NULL;
        }

        s++;
    }
}


static const char *
open_capture(sbx_matcher_t *m, const char *s, const char *p, ptrdiff_t len)
{
    const char *found;

    if (m->ncaptures >= SBX_MATCH_CAPTURES_MAX) {
        luaL_error(m->L, "too many captures");
    }

    m->captures[m->ncaptures].start = s;
    m->captures[m->ncaptures].len = len;
    m->ncaptures++;

    found = match_here(m, s, p);
    if (found == NULL) {
        m->ncaptures--;
    }

    return found;
}


static const char *
close_capture(sbx_matcher_t *m, const char *s, const char *p)
{
    int i = m->ncaptures;
    const char *found;

    do {
        if (--i < 0) {
            luaL_error(m->L, "invalid pattern capture");
        }
    } while (m->captures[i].len != SBX_CAPTURE_OPEN);

    m->captures[i].len = s - m->captures[i].start;

    found = match_here(m, s, p);
    if (found == NULL) {
        m->captures[i].len = SBX_CAPTURE_OPEN;
    }

    return found;
}


/* %1 … %9: what that capture holds, once more */
static const char *
match_again(sbx_matcher_t *m, const char *s, int digit)
{
    int i = digit - '1';
    ptrdiff_t len;

    if (i < 0 || i >= m->ncaptures || m->captures[i].len == SBX_CAPTURE_OPEN) {
        luaL_error(m->L, "invalid capture index %%%d", i + 1);
    }

    len = m->captures[i].len;

    if (len == SBX_CAPTURE_POSITION || m->text_end - s < len) {
        return NULL;
    }

    sbx_lua_meter(m->L, 1 + (uint64_t) len / 16);
    return memcmp(m->captures[i].start, s, (size_t) len) == 0 ? s + len : NULL;
}


/*
 * Items that start with % and are no class of characters.  Returns 1 and moves
 * on, 0 for "no match", -1 for "an ordinary item".
 */
static int
match_escape(sbx_matcher_t *m, const char **s, const char **p)
{
    const char *end;

    if (*p + 1 >= m->pattern_end) {
        return -1;      /* item_end complains */
    }

    switch ((*p)[1]) {

    case 'b':
        *s = match_balance(m, *s, *p + 2);
        *p += 4;
        return *s != NULL;

    case 'f':
        *p += 2;

        if (*p >= m->pattern_end || **p != '[') {
            luaL_error(m->L, "missing '[' after '%%f' in pattern");
        }

        end = set_end(m, *p);

        if (!match_frontier(m, *s, *p, end)) {
            return 0;
        }

        *p = end;
        return 1;

    case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        *s = match_again(m, *s, (*p)[1]);
        *p += 2;
        return *s != NULL;

    default:
        return -1;
    }
}


/*
 * One item and its repetition.  Returns 1 with *s and *p behind it, 0 when
 * *found is the final answer.
 */
static int
match_item(sbx_matcher_t *m, const char **s, const char **p, const char **found)
{
    int one;
    char suffix;
    const char *end;

    end = item_end(m, *p);
    suffix = end < m->pattern_end ? *end : '\0';

    switch (suffix) {

    case '*':
        *found = match_most(m, *s, *p, end);
        return 0;

    case '-':
        *found = match_least(m, *s, *p, end);
        return 0;

    case '+':
        *found = match_one(m, *s, *p, end)
                 ? match_most(m, *s + 1, *p, end) : NULL;
        return 0;

    case '?':
        if (match_one(m, *s, *p, end)) {
            *found = match_here(m, *s + 1, end + 1);

            if (*found != NULL) {
                return 0;
            }
        }

        *p = end + 1;
        return 1;

    default:
        one = match_one(m, *s, *p, end);
        *found = NULL;
        *s += one;
        *p = end;
        return one;
    }
}


/* Matches all of the pattern from p at s; returns the end, or NULL. */
static const char *
match_here(sbx_matcher_t *m, const char *s, const char *p)
{
    int rc;
    const char *found = NULL;

    if (++m->depth > MATCH_DEPTH) {
        luaL_error(m->L, "pattern too complex");
    }

    for ( ;; ) {
        if (p >= m->pattern_end) {
            found = s;
            break;
        }

        if (*p == '(') {
            found = p + 1 < m->pattern_end && p[1] == ')'
                    ? open_capture(m, s, p + 2, SBX_CAPTURE_POSITION)
                    : open_capture(m, s, p + 1, SBX_CAPTURE_OPEN);
            break;
        }

        if (*p == ')') {
            found = close_capture(m, s, p + 1);
            break;
        }

        if (*p == '$' && p + 1 == m->pattern_end) {
            found = s == m->text_end ? s : NULL;
            break;
        }

        rc = *p == SBX_MATCH_ESCAPE ? match_escape(m, &s, &p) : -1;

        if (rc == 0 || (rc < 0 && !match_item(m, &s, &p, &found))) {
            break;
        }
    }

    m->depth--;
    return found;
}


void
sbx_matcher_init(sbx_matcher_t *m, lua_State *L, const char *s, size_t len,
    const char *p, size_t plen)
{
    m->L = L;
    m->text = s;
    m->text_end = s + len;
    m->pattern_end = p + plen;
    m->steps = 0;
    m->depth = 0;
    m->ncaptures = 0;
}


const char *
sbx_matcher_at(sbx_matcher_t *m, const char *s, const char *p)
{
    m->ncaptures = 0;
    m->depth = 0;
    take_step(m);

    return match_here(m, s, p);
}


void
sbx_matcher_push(sbx_matcher_t *m, int i, const char *s, const char *end)
{
    if (i >= m->ncaptures) {
        if (i != 0) {
            luaL_error(m->L, "invalid capture index %%%d", i + 1);
        }

        lua_pushlstring(m->L, s, (size_t) (end - s));
        return;
    }

    switch (m->captures[i].len) {

    case SBX_CAPTURE_OPEN:
        luaL_error(m->L, "unfinished capture");
        break;

    case SBX_CAPTURE_POSITION:
        lua_pushinteger(m->L, m->captures[i].start - m->text + 1);
        break;

    default:
        lua_pushlstring(m->L, m->captures[i].start,
                        (size_t) m->captures[i].len);
    }
}


int
sbx_matcher_push_all(sbx_matcher_t *m, const char *s, const char *end,
    int whole)
{
    int i, n;

    n = m->ncaptures == 0 && whole ? 1 : m->ncaptures;
    luaL_checkstack(m->L, n, "too many captures");

    for (i = 0; i < n; i++) {
        sbx_matcher_push(m, i, s, end);
    }

    return n;
}
