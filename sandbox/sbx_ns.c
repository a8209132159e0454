/*
 * sbx_ns.c: namespaces and capabilities, as cell and slots need them.
 *
 * Runs in: guard, cell init, supervisor, slot init, and between clone and exec
 * of the latter on the supervisor's memory: system calls only, no heap.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_ns.h"
#include "sbx_sysfile.h"


typedef struct {
    int flag;
    uint32_t layer;
    const char *file;
} ns_t;


static const ns_t namespaces[] = {
    { CLONE_NEWPID, SBX_LAYER_PID, "/proc/self/ns/pid" },
    { CLONE_NEWNS, SBX_LAYER_MOUNT, "/proc/self/ns/mnt" },
    { CLONE_NEWNET, SBX_LAYER_NET, "/proc/self/ns/net" },
    { CLONE_NEWIPC, SBX_LAYER_IPC, "/proc/self/ns/ipc" },
    { CLONE_NEWUTS, SBX_LAYER_UTS, "/proc/self/ns/uts" },
    { CLONE_NEWUSER, SBX_LAYER_USER, "/proc/self/ns/user" }
};

#define NAMESPACES  (sizeof(namespaces) / sizeof(namespaces[0]))


int
sbx_ns_supported(int flags, uint32_t *missing)
{
    size_t i;

    for (i = 0; i < NAMESPACES; i++) {
        if ((flags & namespaces[i].flag) == 0) {
            continue;
        }

        /* ENOENT is the kernel's word; anything else says nothing */
        if (access(namespaces[i].file, F_OK) < 0 && errno == ENOENT
            && access("/proc/self", F_OK) == 0)
        {
            flags &= ~namespaces[i].flag;
            *missing |= namespaces[i].layer;
        }
    }

    return flags;
}


uint32_t
sbx_ns_layers(int flags)
{
    size_t i;
    uint32_t layers = 0;

    for (i = 0; i < NAMESPACES; i++) {
        if (flags & namespaces[i].flag) {
            layers |= namespaces[i].layer;
        }
    }

    return layers;
}


pid_t
sbx_ns_clone(int flags)
{
#if defined(__s390__)        /* there the stack comes first */
    return (pid_t) syscall(SYS_clone, NULL, flags | SIGCHLD, NULL, NULL, 0);
#else
    return (pid_t) syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);
#endif
}


int
sbx_ns_map(int proc_fd, const char *uid_map, const char *setgroups,
    const char *gid_map)
{
    if (sbx_sysfile_write(proc_fd, "uid_map", uid_map) < 0) {
        return -1;
    }

    if (setgroups != NULL
        && sbx_sysfile_write(proc_fd, "setgroups", setgroups) < 0)
    {
        return -1;
    }

    return sbx_sysfile_write(proc_fd, "gid_map", gid_map);
}


static int
caps_get(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct head = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };

    return (int) syscall(SYS_capget, &head, data);
}


static int
caps_set(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct head = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };

    return (int) syscall(SYS_capset, &head, data);
}


int
sbx_caps_keep(void)
{
    int cap;
    uint64_t permitted;
    struct __user_cap_data_struct data[2];

    if (caps_get(data) < 0) {
        return -1;
    }

    data[0].inheritable = data[0].permitted;
    data[1].inheritable = data[1].permitted;

    if (caps_set(data) < 0) {
        return -1;
    }

    permitted = (uint64_t) data[1].permitted << 32 | data[0].permitted;

    for (cap = 0; cap < 64; cap++) {
        if ((permitted & SBX_CAP(cap)) == 0) {
            continue;
        }

        /* EINVAL: a bit above the kernel's last capability */
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0
            && errno != EINVAL)
        {
            return -1;
        }
    }

    return 0;
}


uint64_t
sbx_caps_effective(void)
{
    struct __user_cap_data_struct data[2];

    if (caps_get(data) < 0) {
        return 0;
    }

    return (uint64_t) data[1].effective << 32 | data[0].effective;
}


int
sbx_caps_limit(uint64_t keep)
{
    int cap;
    struct __user_cap_data_struct data[2];

    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) {
        return -1;
    }

    for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        if ((keep & SBX_CAP(cap)) == 0
            && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EPERM)
        {
            return -1;
        }
    }

    if (caps_get(data) < 0) {
        return -1;
    }

    data[0].permitted &= (uint32_t) keep;
    data[1].permitted &= (uint32_t) (keep >> 32);
    data[0].effective = data[0].permitted;
    data[1].effective = data[1].permitted;
    data[0].inheritable = 0;
    data[1].inheritable = 0;

    return caps_set(data);
}
