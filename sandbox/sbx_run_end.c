/*
 * sbx_run_end.c: the end of a run: evidence gathered, the verdict asked for.
 *
 * Runs in the supervisor, when the child is a zombie, or held up in exit_group.
 */

#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

#include "sbx_state.h"


/*
 * The path is ours: the init's root is the slot's, and no guest can mount there.
 * Only asked when the program failed.
 */
static int
disk_is_full(const sbx_lane_t *lane)
{
    char path[64];
    struct statfs fs;

    snprintf(path, sizeof(path), "/proc/%d/root/tmp", (int) lane->slot.pid);

    return statfs(path, &fs) == 0
           && (fs.f_bavail == 0 || (fs.f_files != 0 && fs.f_ffree == 0));
}


static void
collect(sbx_lane_t *lane, int wait_status, sbx_evidence_t *ev,
    sbx_cgroup_stat_t *st)
{
    struct timespec ts;
    sbx_task_t *run = lane->run;

    memset(ev, 0, sizeof(*ev));
    ev->wait_status = wait_status;
    ev->kill = lane->kill;
    ev->slot_lost = lane->lost;
    ev->soft_memory = (run->job->flags & SBX_JOB_SOFT_MEMORY) != 0;
    ev->syscall_number = lane->syscall_number;
    memcpy(ev->syscall, lane->syscall, sizeof(ev->syscall));
    ev->forks_refused = lane->forks_refused;
    ev->forking = (lane->fork_flags & SBX_FORK_FORKING) != 0;
    ev->hook_base = sbx_run_hook_base(lane);

    /* settings as we know them, whatever the guest wrote over them */
    ev->page = *lane->slot.page;
    ev->page.limit = ev->hook_base
                     + (int64_t) sbx_run_limit_of(run, SBX_LIMIT_MEMORY);
    ev->page.alloc_limit = sbx_run_alloc_limit(run);

    clock_gettime(CLOCK_REALTIME, &ts);
    ev->event_realtime_ms = (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;

    memset(st, 0, sizeof(*st));

    /* a success of one process needs no figures of a tree */
    if ((wait_status != 0 || (lane->fork_flags & SBX_FORK_FORKING)
         || !ev->page.loaded)
        && sbx_cgroup_read(&lane->slot.cgroup, st) == 0)
    {
        ev->oom_kills = st->oom_kills + st->oom_kills_other;
        ev->oom_own = st->oom_kills > 0;
        ev->tasks_refused = st->pids_refused;
    }

    if (wait_status != 0 && !lane->lost) {
        ev->disk_full = (unsigned) disk_is_full(lane) & 1;
    }
}


static uint64_t
at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}


/* A guest may have written anything there: no more than the kernel allowed. */
static void
fill_counted(const sbx_page_t *page, sbx_verdict_t *v)
{
    v->threads = (uint32_t) at_most(page->threads_peak,
                                    v->limits[SBX_LIMIT_THREADS]);
    v->open_files = (uint32_t) at_most(page->files_peak,
                                       v->limits[SBX_LIMIT_OPEN_FILES]);
    v->largest_bytes = page->largest > 0 ? (uint64_t) page->largest : 0;
}


static void
fill_memory(sbx_lane_t *lane, const sbx_evidence_t *ev,
    const sbx_cgroup_stat_t *st, uint64_t maxrss, sbx_verdict_t *v)
{
    int64_t peak;

    /* a guest may have written anything there */
    if (__builtin_sub_overflow(ev->page.peak, ev->hook_base, &peak)) {
        peak = 0;
    }

    /* where the kernel ended the run, the hook has seen only part of it */
    if (ev->page.loaded
        && !(ev->oom_own && peak >= 0 && st->memory_peak > (uint64_t) peak))
    {
        v->memory_bytes = at_most(peak > 0 ? (uint64_t) peak : 0,
                                  v->limits[SBX_LIMIT_MEMORY]);
        v->memory_source = SBX_SOURCE_HOOK;
        fill_counted(&ev->page, v);

    } else if (st->memory_peak > 0) {
        v->memory_bytes = st->memory_peak;
        v->memory_source = SBX_SOURCE_CGROUP;

    } else if (lane->kind == SBX_ZYGOTE_KIND_EXEC && maxrss > 0) {
        /* small before its exec, so nothing inherited counts */
        v->memory_bytes = maxrss;
        v->memory_source = SBX_SOURCE_RUSAGE;
    }
}


void
sbx_run_end(sbx_lane_t *lane, int wait_status, uint64_t cpu_us,
    uint64_t maxrss_bytes)
{
    uint64_t now, cpu0_us;
    sbx_task_t *run = lane->run;
    sbx_evidence_t ev;
    sbx_verdict_t *v = &run->verdict;
    sbx_cgroup_stat_t st;

    now = sbx_now_ns();
    sbx_timer_clear(&lane->timer);
    sbx_run_drain(lane);
    collect(lane, wait_status, &ev, &st);

    cpu0_us = lane->cpu0_ns / 1000;
    v->cpu_us = cpu_us > cpu0_us ? cpu_us - cpu0_us : 0;

    if ((lane->fork_flags & SBX_FORK_FORKING) && st.cpu_us > v->cpu_us) {
        v->cpu_us = st.cpu_us;
    }

    /* of processes that it had not waited for when their time was up */
    if (lane->kill == SBX_KILL_CPU || lane->kill == SBX_KILL_CPU_PER_SECOND) {
        v->cpu_us += lane->others_cpu_ns / 1000;
    }

    ev.cpu_us = v->cpu_us;
    v->wall_us = (now - lane->t0_ns) / 1000;
    v->processes = 1 + lane->forks;
    v->output = (sbx_str_t) { run->output[0], run->output_len[0] };
    v->errout = (sbx_str_t) { run->output[1], run->output_len[1] };
    fill_memory(lane, &ev, &st, maxrss_bytes, v);

    sbx_judge(&ev, v);
    sbx_run_finish(run);
}
