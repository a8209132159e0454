/*
 * sbx_verdict.c: names and codes of verdicts, as tables.
 *
 * Runs in the supervisor, the worker and the command.  Names are the public
 * contract: answers, logs, metrics and policies all use them.
 */

#include <signal.h>
#include <string.h>

#include "sbx_verdict.h"


/* returncode: what deer-flow run exits with; OF_*: it depends on the run. */
enum { OF_EXIT_CODE = -1, OF_SIGNAL = -2 };

typedef struct {
    const char *name;
    int returncode;
    int http;
} status_row_t;

static const status_row_t statuses[SBX_STATUS_COUNT] = {
    [SBX_SUCCESS] = { "success", 0, 200 },
    [SBX_ERROR] = { "error", OF_EXIT_CODE, 200 },
    [SBX_MEMORY_EXCEEDED] = { "memory_exceeded", 128, 200 },
    [SBX_OOM_KILLED] = { "oom_killed", 128 + SIGKILL, 200 },
    [SBX_TIMEOUT] = { "timeout", 128 + SIGTERM, 200 },
    [SBX_MEMORY_VIOLATION] = { "memory_violation", OF_SIGNAL, 200 },
    [SBX_SIGNALED] = { "signaled", OF_SIGNAL, 200 },
    [SBX_SECCOMP_VIOLATION] = { "seccomp_violation", 128 + SIGSYS, 200 },
    [SBX_OUTPUT_EXCEEDED] = { "output_exceeded", 128 + SIGXFSZ, 200 },
    [SBX_PROCESS_EXCEEDED] = { "process_exceeded", 128 + SIGXFSZ, 200 },
    [SBX_FILE_EXCEEDED] = { "file_exceeded", 128 + SIGXFSZ, 200 },
    [SBX_DISK_EXCEEDED] = { "disk_exceeded", 128 + SIGXFSZ, 200 },
    [SBX_BUSY] = { "busy", 125, 503 },
    [SBX_INVALID] = { "invalid", 125, 400 },
    [SBX_INTERNAL_ERROR] = { "internal_error", 125, 500 },
    [SBX_SKIPPED] = { "skipped", 125, 200 }
};

static const char *const reasons[SBX_REASON_COUNT] = {
    [SBX_REASON_NONE] = "",
    [SBX_REASON_HOOK] = "hook",
    [SBX_REASON_UNUSED] = "",
    [SBX_REASON_CGROUP] = "cgroup",
    [SBX_REASON_WATERMARK] = "watermark",
    [SBX_REASON_WALL] = "wall",
    [SBX_REASON_CPU] = "cpu",
    [SBX_REASON_STDOUT] = "stdout",
    [SBX_REASON_STDERR] = "stderr",
    [SBX_REASON_QUEUE] = "queue",
    [SBX_REASON_STOPPING] = "stopping",
    [SBX_REASON_UNPROTECTED] = "unprotected",
    [SBX_REASON_SLOT] = "slot",
    [SBX_REASON_ALLOCATION] = "allocation",
    [SBX_REASON_CPU_PER_SECOND] = "cpu_per_second",
    [SBX_REASON_LIMIT] = "limit"
};

static const char *const sources[SBX_SOURCE_COUNT] = {
    [SBX_SOURCE_NONE] = "",
    [SBX_SOURCE_HOOK] = "hook",
    [SBX_SOURCE_CGROUP] = "cgroup",
    [SBX_SOURCE_RUSAGE] = "rusage",
    [SBX_SOURCE_WATERMARK] = "watermark",
    [SBX_SOURCE_KERNEL] = "kernel"
};

static const struct {
    const char *name;
    const char *class;
} violations[SBX_VIOLATION_COUNT] = {
    [SBX_VIOLATION_NONE] = { "", "" },
    [SBX_VIOLATION_ALLOC_LIMIT] = { "ALLOC_LIMIT", "MEMORY_EXCEEDED" },
    [SBX_VIOLATION_READ] = { "READ_OUT_OF_BOUNDS", "MEMORY_VIOLATION" },
    [SBX_VIOLATION_WRITE] = { "WRITE_OUT_OF_BOUNDS", "MEMORY_VIOLATION" },
    [SBX_VIOLATION_EXEC] = { "EXEC_OUT_OF_BOUNDS", "MEMORY_VIOLATION" },
    [SBX_VIOLATION_STACK_OVERFLOW] = { "STACK_OVERFLOW", "MEMORY_VIOLATION" },
    [SBX_VIOLATION_BUS] = { "BUS_ERROR", "MEMORY_VIOLATION" },
    [SBX_VIOLATION_SYSCALL] = { "FORBIDDEN_SYSCALL", "SECCOMP_VIOLATION" },
    [SBX_VIOLATION_UNKNOWN] = { "UNKNOWN", "MEMORY_VIOLATION" },
    [SBX_VIOLATION_PROCESSES] = { "PROCESS_LIMIT", "PROCESS_EXHAUSTION" },
    [SBX_VIOLATION_THREADS] = { "THREAD_LIMIT", "THREAD_EXHAUSTION" },
    [SBX_VIOLATION_HANDLES] = { "HANDLE_LIMIT", "HANDLE_EXHAUSTION" }
};


void
sbx_verdict_init(sbx_verdict_t *v)
{
    memset(v, 0, sizeof(sbx_verdict_t));

    v->exit_code = -1;
    v->violation.number = -1;
}


int
sbx_verdict_failed(const sbx_verdict_t *v)
{
    return v->status != SBX_SUCCESS || v->accept == SBX_REJECTED;
}


void
sbx_summarize(const sbx_verdict_t *v, size_t n, sbx_summary_t *sum)
{
    size_t i;

    memset(sum, 0, sizeof(*sum));
    sum->total = n;

    for (i = 0; i < n; i++) {

        if (v[i].status == SBX_SKIPPED) {
            sum->skipped++;
            continue;
        }

        sum->failed += (size_t) sbx_verdict_failed(&v[i]);
        sum->accepted += v[i].accept == SBX_ACCEPTED;

        if (sum->status == SBX_SUCCESS) {
            sum->status = v[i].status;
        }
    }

    sum->accept = sum->failed > 0 ? SBX_REJECTED
                  : sum->accepted > 0 ? SBX_ACCEPTED : SBX_NOT_COMPARED;
}


const char *
sbx_status_name(sbx_status_t status)
{
    return (unsigned) status < SBX_STATUS_COUNT ? statuses[status].name : "";
}


const char *
sbx_reason_name(sbx_reason_t reason)
{
    return (unsigned) reason < SBX_REASON_COUNT ? reasons[reason] : "";
}


const char *
sbx_source_name(sbx_source_t source)
{
    return (unsigned) source < SBX_SOURCE_COUNT ? sources[source] : "";
}


const char *
sbx_violation_name(sbx_violation_type_t type)
{
    return (unsigned) type < SBX_VIOLATION_COUNT ? violations[type].name : "";
}


int
sbx_violation_has_address(const sbx_violation_t *violation)
{
    return violation->address != 0
           || (violation->source == SBX_SOURCE_HOOK
               && violation->type >= SBX_VIOLATION_READ
               && violation->type <= SBX_VIOLATION_BUS);
}


const char *
sbx_violation_class(sbx_violation_type_t type)
{
    return (unsigned) type < SBX_VIOLATION_COUNT ? violations[type].class : "";
}


int
sbx_status_find(sbx_str_t name)
{
    int i;

    for (i = 0; i < SBX_STATUS_COUNT; i++) {
        if (strlen(statuses[i].name) == name.len
            && memcmp(statuses[i].name, name.data, name.len) == 0)
        {
            return i;
        }
    }

    return -1;
}


int
sbx_verdict_returncode(const sbx_verdict_t *v)
{
    switch (statuses[v->status].returncode) {

    case OF_EXIT_CODE:
        return v->exit_code > 0 ? v->exit_code : 1;

    case OF_SIGNAL:
        return 128 + (v->signal != 0 ? v->signal : SIGSEGV);

    default:
        return statuses[v->status].returncode;
    }
}


int
sbx_verdict_http(const sbx_verdict_t *v)
{
    if (v->http) {
        return v->http;
    }

    if (v->status == SBX_INTERNAL_ERROR && v->reason == SBX_REASON_UNPROTECTED)
    {
        return 503;
    }

    return statuses[v->status].http;
}
