/*
 * sbx_floor.h: the least of each limit that a language starts with.
 *
 * Floors are measured by the self-tests, with an empty program.  Below a hard
 * one no program starts, so the run is refused; below the others (times) it may,
 * and whoever asks is warned.
 */

#ifndef SBX_FLOOR_H
#define SBX_FLOOR_H

#include "sbx_limit.h"
#include "sbx_types.h"

/*
 * Id of the first limit from `from` on that is below its floor (0: not known),
 * or -1.  hard: only those that no program starts with.
 */
int sbx_floor_find(const uint64_t *limits, const uint64_t *floors, int from,
    int hard);

/*
 * Two values and what they mean, for people: "threads of 2 is too little: node
 * needs at least 6 to start".  Returns buf.
 */
char *sbx_floor_format(sbx_limit_id_t id, uint64_t value, uint64_t floor,
    sbx_str_t language, char *buf, size_t size);

/*
 * What is known of a built-in language before anything was measured, for nginx
 * -t; 0: nothing.  Never above what a measurement says.
 */
uint64_t sbx_floor_known(sbx_str_t language, sbx_limit_id_t id);

#endif
