/*
 * test_judge.c: the verdict engine as a table: evidence in, status and reason
 * out.  The rows are the promises; each lie a program can tell is one of them.
 */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sbx_judge.h"

#define EXIT(code)  ((code) << 8)
#define MIB         (1024 * 1024)
#define LIMIT       (128 * MIB)
#define BASE        (20 * MIB)

typedef struct {
    const char *name;
    int wait_status;
    sbx_kill_t kill;
    unsigned slot_lost, disk_full, soft, oom_own;
    uint64_t oom_kills, forks_refused, tasks_refused;
    int64_t alloc_limit;        /* 0: none */
    uint64_t cpu_ms;
    uint32_t event;
    int64_t requested, live;
    uint32_t files_refused;
    sbx_status_t status;
    sbx_reason_t reason;
    int returncode;
} row_t;

static const row_t rows[] = {
    { .name = "exit 0", .status = SBX_SUCCESS },
    { .name = "exit 3", .wait_status = EXIT(3), .status = SBX_ERROR,
      .returncode = 3 },
    { .name = "exit 137 is an error, no kill", .wait_status = EXIT(137),
      .status = SBX_ERROR, .returncode = 137 },
    { .name = "exit 128 without a record", .wait_status = EXIT(128),
      .status = SBX_ERROR, .returncode = 128 },
    { .name = "own SIGKILL", .wait_status = SIGKILL, .status = SBX_SIGNALED,
      .returncode = 137 },
    { .name = "own SIGTERM", .wait_status = SIGTERM, .status = SBX_SIGNALED,
      .returncode = 143 },
    { .name = "abort", .wait_status = SIGABRT, .status = SBX_SIGNALED,
      .returncode = 134 },
    { .name = "segfault", .wait_status = SIGSEGV,
      .status = SBX_MEMORY_VIOLATION, .returncode = 139 },
    { .name = "bus error", .wait_status = SIGBUS,
      .status = SBX_MEMORY_VIOLATION, .returncode = 135 },
    { .name = "wall", .wait_status = SIGKILL, .kill = SBX_KILL_WALL,
      .status = SBX_TIMEOUT, .reason = SBX_REASON_WALL, .returncode = 143 },
    { .name = "wall, though it ended meanwhile", .wait_status = EXIT(0),
      .kill = SBX_KILL_WALL, .status = SBX_TIMEOUT,
      .reason = SBX_REASON_WALL, .returncode = 143 },
    { .name = "cpu by the timer", .wait_status = SIGKILL,
      .kill = SBX_KILL_CPU, .status = SBX_TIMEOUT, .reason = SBX_REASON_CPU,
      .returncode = 143 },
    { .name = "cpu by RLIMIT_CPU", .wait_status = SIGKILL, .cpu_ms = 6000,
      .status = SBX_TIMEOUT, .reason = SBX_REASON_CPU, .returncode = 143 },
    { .name = "own SIGXCPU without the time", .wait_status = SIGXCPU,
      .cpu_ms = 10, .status = SBX_SIGNALED, .returncode = 128 + SIGXCPU },
    { .name = "cpu per second", .wait_status = SIGKILL,
      .kill = SBX_KILL_CPU_PER_SECOND, .status = SBX_TIMEOUT,
      .reason = SBX_REASON_CPU_PER_SECOND, .returncode = 143 },
    { .name = "one block above its limit, room or not",
      .wait_status = EXIT(128), .event = SBX_HOOK_MALLOC,
      .requested = 50 * MIB + 1, .live = BASE, .alloc_limit = 50 * MIB,
      .status = SBX_MEMORY_EXCEEDED, .reason = SBX_REASON_ALLOCATION,
      .returncode = 128 },
    { .name = "one block at its limit, but no room",
      .wait_status = EXIT(128), .event = SBX_HOOK_MALLOC,
      .requested = 50 * MIB, .live = BASE + LIMIT, .alloc_limit = 50 * MIB,
      .status = SBX_MEMORY_EXCEEDED, .reason = SBX_REASON_HOOK,
      .returncode = 128 },
    { .name = "soft mode, one block, handled", .soft = 1,
      .event = SBX_HOOK_MALLOC, .requested = 60 * MIB, .live = BASE,
      .alloc_limit = 50 * MIB, .status = SBX_SUCCESS },
    { .name = "a thread refused, then failed", .wait_status = EXIT(1),
      .tasks_refused = 1, .status = SBX_PROCESS_EXCEEDED, .returncode = 153 },
    { .name = "stdout", .wait_status = SIGKILL, .kill = SBX_KILL_STDOUT,
      .status = SBX_OUTPUT_EXCEEDED, .reason = SBX_REASON_STDOUT,
      .returncode = 153 },
    { .name = "stderr", .wait_status = SIGKILL, .kill = SBX_KILL_STDERR,
      .status = SBX_OUTPUT_EXCEEDED, .reason = SBX_REASON_STDERR,
      .returncode = 153 },
    { .name = "hook", .wait_status = EXIT(128), .event = SBX_HOOK_MALLOC,
      .requested = 1000 * MIB, .live = BASE, .status = SBX_MEMORY_EXCEEDED,
      .reason = SBX_REASON_HOOK, .returncode = 128 },
    { .name = "hook by small steps", .wait_status = EXIT(128),
      .event = SBX_HOOK_MMAP, .requested = MIB, .live = BASE + LIMIT,
      .status = SBX_MEMORY_EXCEEDED, .reason = SBX_REASON_HOOK,
      .returncode = 128 },
    { .name = "an implausible record explains nothing",
      .wait_status = EXIT(1), .event = SBX_HOOK_MALLOC, .requested = 16,
      .live = 0, .status = SBX_ERROR, .returncode = 1 },
    { .name = "a negative request is nonsense", .wait_status = EXIT(1),
      .event = SBX_HOOK_MALLOC, .requested = INT64_MIN, .live = INT64_MAX,
      .status = SBX_ERROR, .returncode = 1 },
    { .name = "a caught refusal is exceeded all the same",
      .wait_status = EXIT(0), .event = SBX_HOOK_MALLOC,
      .requested = 1000 * MIB, .live = BASE, .status = SBX_MEMORY_EXCEEDED,
      .reason = SBX_REASON_HOOK, .returncode = 128 },
    { .name = "soft mode, handled", .wait_status = EXIT(0), .soft = 1,
      .event = SBX_HOOK_MALLOC, .requested = 1000 * MIB, .live = BASE,
      .status = SBX_SUCCESS },
    { .name = "soft mode, not handled", .wait_status = EXIT(1), .soft = 1,
      .event = SBX_HOOK_MALLOC, .requested = 1000 * MIB, .live = BASE,
      .status = SBX_MEMORY_EXCEEDED, .reason = SBX_REASON_HOOK,
      .returncode = 128 },
    { .name = "cgroup", .wait_status = SIGKILL, .oom_kills = 1, .oom_own = 1,
      .status = SBX_MEMORY_EXCEEDED, .reason = SBX_REASON_CGROUP,
      .returncode = 128 },
    { .name = "host out of memory", .wait_status = SIGKILL, .oom_kills = 1,
      .status = SBX_OOM_KILLED, .returncode = 137 },
    { .name = "the kernel's word beats our own kill",
      .wait_status = SIGKILL, .kill = SBX_KILL_WALL, .oom_kills = 1,
      .oom_own = 1, .status = SBX_MEMORY_EXCEEDED,
      .reason = SBX_REASON_CGROUP, .returncode = 128 },
    { .name = "our own kill beats the page", .wait_status = SIGKILL,
      .kill = SBX_KILL_WALL, .event = SBX_HOOK_MALLOC,
      .requested = 1000 * MIB, .live = BASE, .status = SBX_TIMEOUT,
      .reason = SBX_REASON_WALL, .returncode = 143 },
    { .name = "a named call", .wait_status = SIGKILL,
      .kill = SBX_KILL_SECCOMP, .status = SBX_SECCOMP_VIOLATION,
      .returncode = 159 },
    { .name = "SIGSYS without a name", .wait_status = SIGSYS,
      .status = SBX_SECCOMP_VIOLATION, .returncode = 159 },
    { .name = "fork refused, then failed", .wait_status = EXIT(1),
      .forks_refused = 1, .status = SBX_PROCESS_EXCEEDED, .returncode = 153 },
    { .name = "fork refused and handled", .forks_refused = 1,
      .status = SBX_SUCCESS },
    { .name = "no thread for the engine", .wait_status = SIGABRT,
      .forks_refused = 1, .status = SBX_PROCESS_EXCEEDED,
      .returncode = 153 },
    { .name = "disk full, then failed", .wait_status = EXIT(1),
      .disk_full = 1, .status = SBX_DISK_EXCEEDED, .returncode = 153 },
    { .name = "disk full and handled", .disk_full = 1,
      .status = SBX_SUCCESS },
    { .name = "SIGXFSZ", .wait_status = SIGXFSZ,
      .status = SBX_DISK_EXCEEDED, .returncode = 153 },
    { .name = "descriptors refused, then failed", .wait_status = EXIT(1),
      .files_refused = 1, .status = SBX_FILE_EXCEEDED, .returncode = 153 },
    { .name = "descriptors refused and handled", .files_refused = 1,
      .status = SBX_SUCCESS },
    { .name = "the slot's init died", .wait_status = SIGKILL, .slot_lost = 1,
      .status = SBX_INTERNAL_ERROR, .reason = SBX_REASON_SLOT,
      .returncode = 125 }
};


static void
judge_row(const row_t *row, sbx_verdict_t *v)
{
    sbx_evidence_t ev;

    memset(&ev, 0, sizeof(ev));
    ev.wait_status = row->wait_status;
    ev.kill = row->kill;
    ev.slot_lost = row->slot_lost;
    ev.disk_full = row->disk_full;
    ev.soft_memory = row->soft;
    ev.oom_kills = row->oom_kills;
    ev.oom_own = row->oom_own;
    ev.forks_refused = row->forks_refused;
    ev.tasks_refused = row->tasks_refused;
    ev.cpu_us = row->cpu_ms * 1000;
    ev.syscall_number = -1;
    ev.hook_base = BASE;
    ev.page.limit = BASE + LIMIT;
    ev.page.alloc_limit = row->alloc_limit ? row->alloc_limit : INT64_MAX;
    ev.page.event = row->event;
    ev.page.requested = row->requested;
    ev.page.live_at_event = row->live;
    ev.page.files_refused = row->files_refused;
    ev.event_realtime_ms = 1;

    sbx_verdict_init(v);
    v->limits[SBX_LIMIT_MEMORY] = LIMIT;
    v->limits[SBX_LIMIT_CPU_TIME] = 5000;
    v->limits[SBX_LIMIT_THREADS] = 64;
    v->limits[SBX_LIMIT_PROCESSES] = 1;
    v->limits[SBX_LIMIT_OPEN_FILES] = 256;
    v->limits[SBX_LIMIT_STACK] = 8 * MIB;
    v->limits[SBX_LIMIT_ALLOCATION] = row->alloc_limit;
    v->limits[SBX_LIMIT_CPU_PER_SECOND] = 800;
    sbx_judge(&ev, v);
}


static void
test_rows(void **state)
{
    size_t i;
    sbx_verdict_t v;

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        judge_row(&rows[i], &v);

        if (v.status != rows[i].status || v.reason != rows[i].reason
            || sbx_verdict_returncode(&v) != rows[i].returncode)
        {
            fail_msg("%s: %s (%s) %d, expected %s (%s) %d", rows[i].name,
                     sbx_status_name(v.status), sbx_reason_name(v.reason),
                     sbx_verdict_returncode(&v),
                     sbx_status_name(rows[i].status),
                     sbx_reason_name(rows[i].reason), rows[i].returncode);
        }

        /* every end that is no success says why, for people */
        assert_int_equal(v.error[0] == '\0', v.status == SBX_SUCCESS);
    }
}


static void
test_violation(void **state)
{
    sbx_verdict_t v;
    const row_t row = { .wait_status = EXIT(128), .event = SBX_HOOK_MALLOC,
                        .requested = 1000 * MIB, .live = BASE + 3 * MIB };

    (void) state;
    judge_row(&row, &v);

    assert_int_equal(v.violation.type, SBX_VIOLATION_ALLOC_LIMIT);
    assert_int_equal(v.violation.requested_bytes, 1000 * MIB);
    assert_int_equal(v.violation.live_bytes, 3 * MIB);
    assert_int_equal(v.violation.limit_bytes, LIMIT);
    assert_int_equal(v.violation.source, SBX_SOURCE_HOOK);
    assert_int_equal(v.violation.timestamp_ms, 1);
    assert_non_null(strstr(v.error, "128m"));
}


/*
 * What a limit's sentence must have: its label, its value, and what to do, which
 * is the limit's own advice.
 */
static void
test_sentences(void **state)
{
    size_t i;
    char value[64];
    sbx_verdict_t v;
    static const struct {
        row_t row;
        sbx_limit_id_t id;
        sbx_violation_type_t type;
        const char *class;
    } cases[] = {
        { { .wait_status = SIGKILL, .kill = SBX_KILL_WALL },
          SBX_LIMIT_TIMEOUT, SBX_VIOLATION_NONE, "" },
        { { .wait_status = SIGKILL, .kill = SBX_KILL_CPU },
          SBX_LIMIT_CPU_TIME, SBX_VIOLATION_NONE, "" },
        { { .wait_status = SIGKILL, .kill = SBX_KILL_CPU_PER_SECOND },
          SBX_LIMIT_CPU_PER_SECOND, SBX_VIOLATION_NONE, "" },
        { { .wait_status = SIGKILL, .kill = SBX_KILL_STDERR },
          SBX_LIMIT_OUTPUT, SBX_VIOLATION_NONE, "" },
        { { .wait_status = SIGXFSZ }, SBX_LIMIT_DISK, SBX_VIOLATION_NONE, "" },
        { { .wait_status = SIGKILL, .kill = SBX_KILL_MEMORY },
          SBX_LIMIT_MEMORY, SBX_VIOLATION_ALLOC_LIMIT, "MEMORY_EXCEEDED" },
        { { .wait_status = EXIT(128), .event = SBX_HOOK_MALLOC,
            .requested = 60 * MIB, .alloc_limit = 50 * MIB },
          SBX_LIMIT_ALLOCATION, SBX_VIOLATION_ALLOC_LIMIT, "MEMORY_EXCEEDED" },
        { { .wait_status = EXIT(1), .files_refused = 2 },
          SBX_LIMIT_OPEN_FILES, SBX_VIOLATION_HANDLES, "HANDLE_EXHAUSTION" },
        { { .wait_status = EXIT(1), .tasks_refused = 1 },
          SBX_LIMIT_THREADS, SBX_VIOLATION_THREADS, "THREAD_EXHAUSTION" },
        { { .wait_status = EXIT(1), .forks_refused = 1 },
          SBX_LIMIT_PROCESSES, SBX_VIOLATION_PROCESSES, "PROCESS_EXHAUSTION" },
        { { .wait_status = SIGSEGV, .event = SBX_HOOK_STACK },
          SBX_LIMIT_STACK, SBX_VIOLATION_STACK_OVERFLOW, "MEMORY_VIOLATION" }
    };

    (void) state;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        judge_row(&cases[i].row, &v);
        sbx_limit_format(cases[i].id, v.limits[cases[i].id], value,
                         sizeof(value));

        if (strstr(v.error, value) == NULL
            || strstr(v.error, sbx_limits[cases[i].id].advice) == NULL)
        {
            fail_msg("%s: \"%s\" lacks %s or the advice",
                     sbx_limits[cases[i].id].name, v.error, value);
        }

        assert_int_equal(v.violation.type, cases[i].type);
        assert_string_equal(sbx_violation_class(v.violation.type),
                            cases[i].class);
    }
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_violation),
        cmocka_unit_test(test_sentences)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
