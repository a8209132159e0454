/*
 * sbx_log.h: lines in nginx's error-log form on stderr:
 *   2026/11/30 04:00:00 [notice] 123#0: deer-flow: text (13: Permission denied)
 * Runs in: guard, supervisor, command.
 */

#ifndef SBX_LOG_H
#define SBX_LOG_H

#include "sbx_err.h"

enum { SBX_LOG_EMERG = 1, SBX_LOG_ALERT, SBX_LOG_CRIT, SBX_LOG_ERR,
    SBX_LOG_WARN, SBX_LOG_NOTICE, SBX_LOG_INFO, SBX_LOG_DEBUG };

/* path: reopened by sbx_log_reopen when its inode changes (nginx's USR1). */
void sbx_log_init(const char *path, int level);
void sbx_log_reopen(void);
void sbx_log(int level, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sbx_log_err(int level, const sbx_err_t *err, const char *what);

#endif
