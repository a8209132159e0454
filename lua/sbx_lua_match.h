/*
 * sbx_lua_match.h: the matcher of Lua patterns, for the functions that use it.
 * Private to lua/.
 */

#ifndef SBX_LUA_MATCH_H
#define SBX_LUA_MATCH_H

#include "sbx_lua_private.h"

#define SBX_MATCH_ESCAPE        '%'
#define SBX_MATCH_CAPTURES_MAX  32

typedef enum {
    SBX_CAPTURE_OPEN = -1,
    SBX_CAPTURE_POSITION = -2
} sbx_capture_state_t;

typedef struct {
    const char *start;
    ptrdiff_t len;              /* or sbx_capture_state_t */
} sbx_capture_t;

typedef struct {
    lua_State *L;
    const char *text, *text_end;
    const char *pattern_end;
    unsigned steps;
    int depth;
    int ncaptures;
    sbx_capture_t captures[SBX_MATCH_CAPTURES_MAX];
} sbx_matcher_t;

void sbx_matcher_init(sbx_matcher_t *m, lua_State *L, const char *s, size_t len,
    const char *p, size_t plen);

/*
 * Matches the pattern from p on at s, charging each step.  Returns the end of
 * the match, with its captures in m, or NULL.  Bad patterns are Lua errors.
 */
const char *sbx_matcher_at(sbx_matcher_t *m, const char *s, const char *p);

/* Capture i of the match from s to end; 0 without any is the whole match. */
void sbx_matcher_push(sbx_matcher_t *m, int i, const char *s, const char *end);

/* All of them; whole: the whole match where there are none.  How many. */
int sbx_matcher_push_all(sbx_matcher_t *m, const char *s, const char *end,
    int whole);

#endif
