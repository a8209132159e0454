/*
 * sbx_compare.h: whether a program printed what a case expects.
 */

#ifndef SBX_COMPARE_H
#define SBX_COMPARE_H

#include "sbx_job.h"

/* 1: the same by that rule, 0: not.  Reads both once; allocates nothing. */
int sbx_compare(sbx_compare_t how, sbx_str_t output, sbx_str_t expected);

/* "exact", "tokens", "trimmed", "lines".  The rule called name, or -1. */
const char *sbx_compare_name(sbx_compare_t how);
int sbx_compare_find(sbx_str_t name);

#endif
