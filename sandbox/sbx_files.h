/*
 * sbx_files.h: a job's files, written by the child itself.
 */

#ifndef SBX_FILES_H
#define SBX_FILES_H

#include "sbx_err.h"
#include "sbx_job.h"

/*
 * Writes the main file and the extra files into the working directory and makes
 * the directories they need.  mapped: the job's strings are in a mapping; what
 * the extra files have of it is unmapped, and their data is gone: it would
 * stand in the program's address space, which its memory limit bounds.
 *
 * Runs in:  child, fenced in: the tmpfs limit and the rlimits are the run's.
 * Fails:    step JOB; a full disk says so.
 */
int sbx_files_write(sbx_job_t *job, int mapped, sbx_err_t *err);

#endif
