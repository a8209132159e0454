/*
 * sbx_layer.c: the tables of layers that protect a run, and of the checks.
 *
 * Runs in the master (sandbox_allow_missing), the supervisor and the command.
 * Its order is the one in which deer-flow check lists them.
 */

#include <string.h>

#include "sbx_layer.h"


const sbx_layer_info_t sbx_layers[] = {
    { SBX_LAYER_NO_NEW_PRIVS, "no_new_privs",
      "set-uid programs give no rights to a run" },
    { SBX_LAYER_SECCOMP, "seccomp",
      "system calls outside the table are refused or end the run" },
    { SBX_LAYER_PID, "pid",
      "a run sees and signals its own processes only, and all end with it" },
    { SBX_LAYER_MOUNT, "mount",
      "a bare read-only root and private /tmp; the host's files are absent" },
    { SBX_LAYER_NET, "net",
      "no network, loopback included" },
    { SBX_LAYER_IPC, "ipc",
      "System V and POSIX IPC objects are the run's own" },
    { SBX_LAYER_UTS, "uts",
      "host name of its own" },
    { SBX_LAYER_RLIMITS, "rlimits",
      "memory, stack, file and process limits by the kernel" },
    { SBX_LAYER_PROC, "proc",
      "/proc shows the run's own processes, read-only" },
    { SBX_LAYER_USER, "user",
      "a user namespace per slot: root inside has no rights outside" },
    { SBX_LAYER_UID, "uid",
      "a host uid per slot: runs cannot reach each other" },
    { SBX_LAYER_CGROUP, "cgroup",
      "memory and tasks of the whole tree are counted and bounded" },
    { SBX_LAYER_LANDLOCK, "landlock",
      "files outside the run's directories stay closed if a mount leaks" },
    { SBX_LAYER_NOTIFY, "notify",
      "refused system calls are named by the kernel" },
    { 0, NULL, NULL }
};

const sbx_layer_info_t sbx_checks[] = {
    { SBX_CHECK_LIMIT, "check_limit",
      "the memory limit in force while a program runs is the intended one" },
    { SBX_CHECK_PRELOAD, "check_preload",
      "the preload library and the slot's page are mapped in the child" },
    { SBX_CHECK_PROC_LIMITS, "check_proc_limits",
      "/proc/PID/limits has the memory limit before the job is handed over" },
    { SBX_CHECK_GROWTH, "check_growth",
      "memory grows by what a program takes, without jumps" },
    { SBX_CHECK_SIGNAL, "check_signal",
      "the slot's init sees the hook's SIGUSR1 when a program takes too much" },
    { SBX_CHECK_OOM, "check_oom",
      "no OOM kill while a program stays within its memory" },
    { SBX_CHECK_DEADLINE, "check_deadline",
      "no run past its deadline, no process outside the pool" },
    { 0, NULL, NULL }
};


static uint32_t
find(const sbx_layer_info_t *layer, sbx_str_t name)
{
    for ( ; layer->bit != 0; layer++) {
        if (strlen(layer->name) == name.len
            && memcmp(layer->name, name.data, name.len) == 0)
        {
            return layer->bit;
        }
    }

    return 0;
}


uint32_t
sbx_layer_find(sbx_str_t name)
{
    uint32_t bit = find(sbx_layers, name);

    return bit ? bit : find(sbx_checks, name);
}
