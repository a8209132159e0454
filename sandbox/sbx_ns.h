/*
 * sbx_ns.h: namespaces and capabilities, as cell and slots need them.
 *
 * Functions return 0, or -1 with errno; the caller names the object.
 */

#ifndef SBX_NS_H
#define SBX_NS_H

#include <sys/types.h>

#include "sbx_layer.h"

/*
 * What of flags (CLONE_NEW*) this kernel was built with; the layers of the
 * others are added to *missing.  Needs /proc.
 */
int sbx_ns_supported(int flags, uint32_t *missing);

/* The layers that namespaces of these flags stand for. */
uint32_t sbx_ns_layers(int flags);

/*
 * clone(2) that returns twice, like fork, without glibc's fork handlers: the
 * callers are single-threaded.  The old call, not clone3, because container
 * runtimes answer ENOSYS to clone3 and it knows every flag used here.
 */
pid_t sbx_ns_clone(int flags);

/*
 * Writes uid_map, setgroups and gid_map below a /proc/PID directory.
 * setgroups NULL leaves it alone; "deny" is the condition for an unprivileged
 * gid_map (user_namespaces(7)).
 */
int sbx_ns_map(int proc_fd, const char *uid_map, const char *setgroups,
    const char *gid_map);

/*
 * Makes the permitted capabilities survive an exec by another uid than 0:
 * without it a process of an unprivileged user namespace loses them there.
 */
int sbx_caps_keep(void);

/* Bits of the capabilities in effect. */
uint64_t sbx_caps_effective(void);

/*
 * Keeps these bits at most, in every set; clears the ambient set.  In the
 * bounding set too as far as CAP_SETPCAP allows.
 */
int sbx_caps_limit(uint64_t keep);

#define SBX_CAP(number)  (1ULL << (number))

#endif
