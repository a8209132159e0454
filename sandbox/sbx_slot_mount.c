/*
 * sbx_slot_mount.c: a slot's mounts: root, /proc, /tmp, /dev/shm.
 *
 * Runs in: slot init, in the slot's mount namespace, which starts as a copy of
 * the supervisor's and keeps nothing of it but the bare root.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sbx_layer.h"
#include "sbx_mount.h"
#include "sbx_slot.h"
#include "sbx_slot_init.h"

#define INODE_BYTES     4096            /* one inode for so much of the size */
#define INODES_MIN      64
#define INODES_MAX      16384

#define BUSY_TRIES      20
#define BUSY_WAIT_NS    500000

#define PRIVATE_FLAGS   (MS_NOSUID | MS_NODEV | MS_NOEXEC)

typedef struct {
    const char *options;
    int whole;          /* 1: shows more than processes, so hide it by hand */
} proc_t;


static const char *const private_dirs[] = { "/tmp", "/dev/shm" };

/*
 * Both options are 5.8; a hardened kernel may refuse them.  "ptraceable" hides
 * more than "invisible", which lets group 0 see everything: seen from outside, a
 * guest is in it when the root of a container runs us.
 */
static const proc_t procs[] = {
    { "hidepid=ptraceable,subset=pid", 0 },
    { "subset=pid", 0 },
    { "hidepid=2", 1 },
    { NULL, 1 }
};

/* What a /proc without subset=pid shows of the machine. */
static const char *const masked_dirs[] = {
    "/proc/acpi", "/proc/asound", "/proc/bus", "/proc/driver", "/proc/fs",
    "/proc/irq", "/proc/scsi", "/proc/sys", "/proc/sysvipc", "/proc/tty"
};

static const char *const masked_files[] = {
    "/proc/config.gz", "/proc/iomem", "/proc/ioports", "/proc/kallsyms",
    "/proc/kcore", "/proc/key-users", "/proc/keys", "/proc/kmsg",
    "/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags",
    "/proc/latency_stats", "/proc/modules", "/proc/mtrr",
    "/proc/sched_debug", "/proc/sysrq-trigger", "/proc/timer_list",
    "/proc/timer_stats", "/proc/vmallocinfo"
};

#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))


static int
mount_empty_dir(const char *dir)
{
    return mount("sbx-empty", dir, "tmpfs", PRIVATE_FLAGS | MS_RDONLY,
                 "mode=0555,size=4k,nr_inodes=2");
}


static int
mask_proc(sbx_err_t *err)
{
    size_t i;

    for (i = 0; i < COUNT(masked_dirs); i++) {
        if (mount_empty_dir(masked_dirs[i]) < 0 && errno != ENOENT) {
            return sbx_fail(err, SBX_STEP_SLOT, errno, "mask %s",
                            masked_dirs[i]);
        }
    }

    for (i = 0; i < COUNT(masked_files); i++) {
        if (mount("/dev/null", masked_files[i], NULL, MS_BIND, NULL) < 0
            && errno != ENOENT)
        {
            return sbx_fail(err, SBX_STEP_SLOT, errno, "mask %s",
                            masked_files[i]);
        }
    }

    return 0;
}


static int
mount_proc(sbx_init_t *init, sbx_err_t *err)
{
    size_t i;

    for (i = 0; i < COUNT(procs); i++) {
        if (mount("proc", "/proc", "proc", PRIVATE_FLAGS | MS_RDONLY,
                  procs[i].options) == 0)
        {
            return procs[i].whole ? mask_proc(err) : 0;
        }
    }

    /*
     * The usual reason: a container that covers parts of its /proc, where the
     * kernel refuses a new one to a user namespace.  The supervisor decides
     * whether runs may do without.
     */
    init->missing |= SBX_LAYER_PROC;

    return 0;
}


int
sbx_init_enter_root(sbx_init_t *init, sbx_err_t *err)
{
    const char *dir = init->request.root.dir;

    /* writable only in this instance; it names the caller's own namespace */
    init->last_pid_fd = open("/proc/sys/kernel/ns_last_pid",
                             O_WRONLY | O_CLOEXEC);

    /* what is mounted here must not reach the supervisor's namespace */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "make / private");
    }

    /* a copy of ours: the original is locked in this namespace */
    if (mount(dir, dir, NULL, MS_BIND | MS_REC, NULL) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "bind the root %s", dir);
    }

    if (chdir(dir) < 0 || syscall(SYS_pivot_root, ".", ".") < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "pivot into %s", dir);
    }

    /*
     * The old root now lies over the new one, at ".".  It must still be there
     * while /proc is mounted: a user namespace gets a /proc only where it can
     * see one.
     */
    if (mount_proc(init, err) < 0) {
        return -1;
    }

    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "detach the old root");
    }

    return 0;
}


static void
tmpfs_options(const sbx_init_t *init, char *options, size_t size)
{
    uint64_t inodes = init->request.disk_bytes / INODE_BYTES;

    if (inodes < INODES_MIN) {
        inodes = INODES_MIN;
    }

    if (inodes > INODES_MAX) {
        inodes = INODES_MAX;
    }

    snprintf(options, size, "mode=1777,size=%llu,nr_inodes=%llu",
             (unsigned long long) init->request.disk_bytes,
             (unsigned long long) inodes);
}


int
sbx_init_mount_tmpfs(sbx_init_t *init, sbx_err_t *err)
{
    char options[96];
    size_t i;

    tmpfs_options(init, options, sizeof(options));

    for (i = 0; i < COUNT(private_dirs); i++) {
        if (mount("sbx-run", private_dirs[i], "tmpfs", PRIVATE_FLAGS,
                  options) < 0)
        {
            return sbx_fail(err, SBX_STEP_SLOT, errno, "mount %s (%s)",
                            private_dirs[i], options);
        }
    }

    if (mkdir(SBX_RUN_DIR, 0755) < 0
        || chown(SBX_RUN_DIR, init->request.guest_uid,
                 init->request.guest_gid) < 0)
    {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "make %s", SBX_RUN_DIR);
    }

    return 0;
}


int
sbx_init_resize_tmpfs(sbx_init_t *init, sbx_err_t *err)
{
    char options[96];
    size_t i;

    tmpfs_options(init, options, sizeof(options));

    for (i = 0; i < COUNT(private_dirs); i++) {
        if (mount(NULL, private_dirs[i], NULL, MS_REMOUNT | PRIVATE_FLAGS,
                  options) < 0)
        {
            return sbx_fail(err, SBX_STEP_SLOT, errno, "resize %s (%s)",
                            private_dirs[i], options);
        }
    }

    return 0;
}


/*
 * Every process is reaped by now, but the kernel may close a file a moment
 * later (one in flight in a socket, for instance).  Detaching is the last
 * resort: nothing of the slot can reach the tmpfs then, only its memory goes
 * later.
 */
static int
unmount(sbx_init_t *init, const char *dir, sbx_err_t *err)
{
    int i;
    struct timespec wait = { 0, BUSY_WAIT_NS };

    for (i = 0; i < BUSY_TRIES; i++) {
        if (umount2(dir, UMOUNT_NOFOLLOW) == 0) {
            return 0;
        }

        if (errno != EBUSY) {
            break;
        }

        (void) nanosleep(&wait, NULL);
    }

    if (errno == EBUSY && umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
        init->leaked = 1;
        return 0;
    }

    return sbx_fail(err, SBX_STEP_RESET, errno, "unmount %s", dir);
}


int
sbx_init_umount_tmpfs(sbx_init_t *init, sbx_err_t *err)
{
    size_t i;

    for (i = 0; i < COUNT(private_dirs); i++) {
        if (unmount(init, private_dirs[i], err) < 0) {
            return -1;
        }
    }

    return 0;
}


int
sbx_init_mount_empty(sbx_init_t *init, sbx_err_t *err)
{
    if (!init->request.proc_empty || init->proc_covered) {
        return 0;
    }

    if (mount_empty_dir("/proc") < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "cover /proc");
    }

    init->proc_covered = 1;

    return 0;
}


int
sbx_init_umount_empty(sbx_init_t *init, sbx_err_t *err)
{
    if (init->request.proc_empty || !init->proc_covered) {
        return 0;
    }

    if (umount2("/proc", UMOUNT_NOFOLLOW) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "uncover /proc");
    }

    init->proc_covered = 0;

    return 0;
}
