/*
 * sbx_run_limits.c: a run's limits, all set from outside before the hand-over:
 * the hook's page, rlimits by prlimit, the cgroup.
 *
 * Runs in the supervisor; the child sleeps meanwhile.
 */

#include <errno.h>
#include <sys/resource.h>

#include "sbx_fault.h"
#include "sbx_floor.h"
#include "sbx_state.h"

#define MIB  (1024ull * 1024)

/*
 * What a cgroup is charged beyond the program's own memory: page tables, kernel
 * stacks, pipe buffers, and pages of the interpreter copied on first write.
 */
#define CGROUP_SLACK        (32 * MIB)

#define STACK_GUARD         (64 * 1024)
#define DISK_PAGE           4096

/* An operator's own runtime that refuses an empty program: a generous base. */
#define UNMEASURED_BASE     (256 * MIB)


/* The terms of the formula, which the answer shows as well. */
static void
find_terms(const sbx_lane_t *lane, sbx_verdict_t *v)
{
    const sbx_task_t *run = lane->run;

    if (lane->kind == SBX_ZYGOTE_KIND_EXEC) {
        v->base_bytes = run->runtime->base_bytes;

    } else {
        v->base_bytes = run->runtime->address_space ? lane->vm_size
                                                    : lane->vm_data;
    }

    v->code_bytes = run->job->code.len;
    v->factor_permille = run->job->factor_permille;

    if (v->base_bytes == 0) {
        v->base_bytes = UNMEASURED_BASE;
    }
}


/*
 * base + code + factor × wanted, and the stacks.  A thread's stack is reserved
 * whole and used in part.  So stacks come on top of the formula, or the
 * twentieth thread of an honest program would leave its next allocation no
 * room; what is in use behind that, the cgroup bounds, or where there is none
 * sbx_run_sample.c.
 */
uint64_t
sbx_run_address_bytes(const sbx_task_t *run)
{
    const sbx_verdict_t *v = &run->verdict;
    uint64_t wanted = sbx_run_limit_of(run, SBX_LIMIT_MEMORY);

    return v->base_bytes + v->code_bytes
           + wanted / 1000 * v->factor_permille
           + wanted % 1000 * v->factor_permille / 1000
           + sbx_run_limit_of(run, SBX_LIMIT_THREADS)
             * (sbx_run_limit_of(run, SBX_LIMIT_STACK) + STACK_GUARD);
}


static int
set_rlimits(sbx_lane_t *lane)
{
    size_t i;
    uint64_t cpu_s, tasks;
    sbx_task_t *run = lane->run;
    struct rlimit rl;

    /* whole seconds, rounded up, and one more: the timer is the exact one */
    cpu_s = (sbx_run_limit_of(run, SBX_LIMIT_CPU_TIME) + lane->cpu0_ns / 1000000 + 999)
            / 1000 + 1;
    tasks = sbx_run_limit_of(run, SBX_LIMIT_PROCESSES)
            + sbx_run_limit_of(run, SBX_LIMIT_THREADS) + 1;

    /*
     * Where the slot has no uid of its own, its init counts, too.  The cgroup
     * must be the first to refuse: it alone counts what it refuses.
     */
    if (lane->slot.cgroup.pids_fd >= 0) {
        tasks++;
    }

    const struct { int resource; uint64_t value; } table[] = {
        { run->runtime->address_space ? RLIMIT_AS : RLIMIT_DATA,
          sbx_run_address_bytes(run) },
        { RLIMIT_CPU, cpu_s },
        { RLIMIT_FSIZE, sbx_run_limit_of(run, SBX_LIMIT_DISK) },
        { RLIMIT_NOFILE, sbx_run_limit_of(run, SBX_LIMIT_OPEN_FILES) },
        { RLIMIT_STACK, sbx_run_limit_of(run, SBX_LIMIT_STACK) },
        { RLIMIT_NPROC, tasks },
        { RLIMIT_CORE, 0 }
    };

    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {

        /* the self-test finds out what the address limit has to be */
        if (i == 0 && (run->measures || sbx_fault("address_limit"))) {
            continue;
        }

        if (table[i].resource == RLIMIT_NPROC && !sbx_super.tasks_per_slot) {
            continue;
        }

        rl.rlim_cur = rl.rlim_max = table[i].value;

        if (prlimit(lane->pid, table[i].resource, &rl, NULL) < 0) {
            return -1;
        }
    }

    return 0;
}


uint64_t
sbx_run_backstop(const sbx_lane_t *lane)
{
    uint64_t memory, base;
    const sbx_task_t *run = lane->run;

    memory = sbx_run_limit_of(run, SBX_LIMIT_MEMORY);
    memory = memory / 1000 * run->job->factor_permille + CGROUP_SLACK;

    if (lane->kind == SBX_ZYGOTE_KIND_EXEC) {
        base = run->runtime->hook_base > 0
               ? (uint64_t) run->runtime->hook_base : run->runtime->base_bytes;
        memory += base > 0 ? base : UNMEASURED_BASE;
    }

    return memory;
}


static int
set_cgroup(sbx_lane_t *lane, sbx_err_t *err)
{
    const sbx_task_t *run = lane->run;

    return sbx_cgroup_limit(&lane->slot.cgroup, sbx_run_backstop(lane),
                            (uint32_t) (sbx_run_limit_of(run, SBX_LIMIT_PROCESSES)
                            + sbx_run_limit_of(run, SBX_LIMIT_THREADS)), err);
}


int64_t
sbx_run_hook_base(const sbx_lane_t *lane)
{
    return lane->kind == SBX_ZYGOTE_KIND_EXEC
           ? lane->run->runtime->hook_base : 0;
}


int64_t
sbx_run_alloc_limit(const sbx_task_t *run)
{
    uint64_t value = sbx_run_limit_of(run, SBX_LIMIT_ALLOCATION);

    return sbx_limit_is_none(SBX_LIMIT_ALLOCATION, value) ? INT64_MAX
                                                          : (int64_t) value;
}


static void
set_page(sbx_lane_t *lane)
{
    sbx_page_t *page = lane->slot.page;
    sbx_task_t *run = lane->run;

    /* the child sleeps: what its warm-up counted goes away here */
    page->live = 0;
    page->peak = 0;
    page->requested = 0;
    page->event = SBX_HOOK_NONE;
    page->refusals = 0;
    page->alloc_limit = sbx_run_alloc_limit(run);
    page->one_arena = run->runtime->address_space != 0;
    page->files_limit = (uint32_t) sbx_run_limit_of(run, SBX_LIMIT_OPEN_FILES);
    page->largest = 0;
    page->files_peak = 0;
    page->threads_peak = page->threads;
    page->fault = sbx_fault("check_growth") ? SBX_PAGE_FAULT_JUMP
                  : sbx_fault("check_signal") ? SBX_PAGE_FAULT_MUTE
                  : SBX_PAGE_FAULT_NONE;

    if (run->measures) {
        page->mode = SBX_HOOK_COUNT;
        page->limit = INT64_MAX;
        return;
    }

    page->limit = sbx_run_hook_base(lane) + (int64_t) sbx_run_limit_of(run, SBX_LIMIT_MEMORY);
    page->mode = (run->job->flags & SBX_JOB_SOFT_MEMORY) ? SBX_HOOK_SOFT
                                                         : SBX_HOOK_KILL;
}


/* What the program and its files take of the disk: whole pages. */
static uint64_t
disk_floor(const sbx_job_t *job)
{
    size_t i;
    uint64_t pages = (job->code.len + DISK_PAGE - 1) / DISK_PAGE;

    for (i = 0; i < job->nfiles; i++) {
        pages += (job->files[i].data.len + DISK_PAGE - 1) / DISK_PAGE;
    }

    return pages * DISK_PAGE;
}


int
sbx_run_unfit(sbx_task_t *run)
{
    int id;
    char text[200], has[32], needs[32];
    const uint64_t *limits = run->job->limits, *floors = run->runtime->floors;
    uint64_t disk = disk_floor(run->job);

    if (limits[SBX_LIMIT_DISK] < disk) {
        sbx_run_refuse(run, SBX_INVALID, SBX_REASON_LIMIT,
                       "\"disk\" of %s is too little: the program and its "
                       "files need at least %s",
                       sbx_limit_format(SBX_LIMIT_DISK, limits[SBX_LIMIT_DISK],
                                        has, sizeof(has)),
                       sbx_limit_format(SBX_LIMIT_DISK, disk, needs,
                                        sizeof(needs)));
        return 1;
    }

    if (limits[SBX_LIMIT_OPEN_FILES] > sbx_super.open_files) {
        sbx_run_refuse(run, SBX_INVALID, SBX_REASON_LIMIT,
                       "\"open_files\" of %llu is more than this host allows: "
                       "%llu (RLIMIT_NOFILE of nginx or of the supervisor)",
                       (unsigned long long) limits[SBX_LIMIT_OPEN_FILES],
                       (unsigned long long) sbx_super.open_files);
        return 1;
    }

    /* the self-test is what finds them out */
    id = run->conn == NULL ? -1 : sbx_floor_find(limits, floors, 0, 1);

    if (id < 0) {
        return 0;
    }

    sbx_run_refuse(run, SBX_INVALID, SBX_REASON_LIMIT, "%s",
                   sbx_floor_format((sbx_limit_id_t) id, limits[id],
                                    floors[id], run->job->language, text,
                                    sizeof(text)));
    return 1;
}


int
sbx_run_limit(sbx_lane_t *lane, sbx_err_t *err)
{
    find_terms(lane, &lane->run->verdict);
    set_page(lane);

    if (sbx_fault("check_proc_limits")) {
        return set_cgroup(lane, err);
    }

    if (set_rlimits(lane) < 0) {
        return sbx_fail(err, SBX_STEP_RLIMITS, errno, "prlimit");
    }

    return set_cgroup(lane, err);
}


#ifdef SBX_FAULTS

/* When the program may run already: what should be set by then, or stay. */
void
sbx_run_limit_late(sbx_lane_t *lane)
{
    sbx_task_t *run = lane->run;

    if (sbx_fault("check_limit") && !run->measures) {
        run->verdict.code_bytes -= 1;
        (void) set_rlimits(lane);
        run->verdict.code_bytes += 1;

    } else if (sbx_fault("check_proc_limits")) {
        (void) set_rlimits(lane);
    }
}

#endif
