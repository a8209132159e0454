/*
 * sbx_syscalls.c: what each system call does under the filters, as tables.
 *
 * Read by the supervisor, which builds the filters from them and names refused
 * calls by them, and by the tests.  A call without a row answers ENOSYS, so a
 * new kernel opens nothing by itself.  Names that the machine or libseccomp
 * does not know are skipped, which again means ENOSYS.
 *
 * KILL is for calls that no honest program makes from inside an interpreter,
 * ERRNO for those that some try and can do without.  Rows marked Z are needed
 * by the zygote and by its children's own steps; `notify` does not have them,
 * so in a child the strict filter refuses them without the listener.
 */

#include "sbx_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <asm/ioctls.h>

#define IO       "reads and writes descriptors the program has"
#define WAIT     "waits for descriptors, timers, events"
#define UNIX     "socketpair's ends; there are no other sockets"
#define FILES    "names: the bare root, mounts and Landlock decide"
#define MEMORY   "own memory: rlimits, cgroup and hook bound it"
#define START    "how programs, threads and libc start and end"
#define SELF     "what a process asks about itself"
#define SIGNALS  "signals: the slot's pid namespace bounds them"
#define CLOCKS   "reads clocks, sets own timers"
#define PROCESS  "new processes only where the run may have several"

#define ALLOW(name, why)         { name, SBX_RULE_ALLOW, 0, 0, why }
#define ERRNO(name, err, why)    { name, SBX_RULE_ERRNO, err, 0, why }
#define ZERRNO(name, err, why)   { name, SBX_RULE_ERRNO, err, 1, why }
#define KILL(name, why)          { name, SBX_RULE_KILL, 0, 0, why }
#define ABSENT(name, why)        { name, SBX_RULE_ENOSYS, 0, 0, why }
#define ZABSENT(name, why)       { name, SBX_RULE_ENOSYS, 0, 1, why }


const sbx_syscall_t sbx_syscalls[] = {
    ALLOW("read", IO),
    ALLOW("write", IO),
    ALLOW("readv", IO),
    ALLOW("writev", IO),
    ALLOW("pread64", IO),
    ALLOW("pwrite64", IO),
    ALLOW("preadv", IO),
    ALLOW("pwritev", IO),
    ALLOW("preadv2", IO),
    ALLOW("pwritev2", IO),
    ALLOW("close", IO),
    ALLOW("close_range", IO),
    ALLOW("lseek", IO),
    ALLOW("dup", IO),
    ALLOW("dup2", IO),
    ALLOW("dup3", IO),
    ALLOW("fcntl", IO),
    ALLOW("flock", IO),
    ALLOW("ioctl", IO),
    ALLOW("pipe", IO),
    ALLOW("pipe2", IO),
    ALLOW("sendfile", IO),
    ALLOW("copy_file_range", IO),
    ALLOW("fsync", IO),
    ALLOW("fdatasync", IO),
    ALLOW("sync_file_range", IO),
    ALLOW("fadvise64", IO),
    ALLOW("readahead", IO),
    ALLOW("ftruncate", IO),
    ALLOW("fallocate", IO),

    ALLOW("poll", WAIT),
    ALLOW("ppoll", WAIT),
    ALLOW("select", WAIT),
    ALLOW("pselect6", WAIT),
    ALLOW("epoll_create", WAIT),
    ALLOW("epoll_create1", WAIT),
    ALLOW("epoll_ctl", WAIT),
    ALLOW("epoll_wait", WAIT),
    ALLOW("epoll_pwait", WAIT),
    ALLOW("epoll_pwait2", WAIT),
    ALLOW("eventfd", WAIT),
    ALLOW("eventfd2", WAIT),
    ALLOW("timerfd_create", WAIT),
    ALLOW("timerfd_settime", WAIT),
    ALLOW("timerfd_gettime", WAIT),
    ALLOW("signalfd", WAIT),
    ALLOW("signalfd4", WAIT),

    ALLOW("sendto", UNIX),
    ALLOW("recvfrom", UNIX),
    ALLOW("sendmsg", UNIX),
    ALLOW("recvmsg", UNIX),
    ALLOW("sendmmsg", UNIX),
    ALLOW("recvmmsg", UNIX),
    ALLOW("shutdown", UNIX),
    ALLOW("getsockname", UNIX),
    ALLOW("getpeername", UNIX),
    ALLOW("getsockopt", UNIX),
    ALLOW("setsockopt", UNIX),

    ALLOW("open", FILES),
    ALLOW("openat", FILES),
    ALLOW("openat2", FILES),
    ALLOW("creat", FILES),
    ALLOW("stat", FILES),
    ALLOW("fstat", FILES),
    ALLOW("lstat", FILES),
    ALLOW("newfstatat", FILES),
    ALLOW("statx", FILES),
    ALLOW("statfs", FILES),
    ALLOW("fstatfs", FILES),
    ALLOW("access", FILES),
    ALLOW("faccessat", FILES),
    ALLOW("faccessat2", FILES),
    ALLOW("readlink", FILES),
    ALLOW("readlinkat", FILES),
    ALLOW("getdents", FILES),
    ALLOW("getdents64", FILES),
    ALLOW("getcwd", FILES),
    ALLOW("chdir", FILES),
    ALLOW("fchdir", FILES),
    ALLOW("mkdir", FILES),
    ALLOW("mkdirat", FILES),
    ALLOW("rmdir", FILES),
    ALLOW("rename", FILES),
    ALLOW("renameat", FILES),
    ALLOW("renameat2", FILES),
    ALLOW("link", FILES),
    ALLOW("linkat", FILES),
    ALLOW("symlink", FILES),
    ALLOW("symlinkat", FILES),
    ALLOW("unlink", FILES),
    ALLOW("unlinkat", FILES),
    ALLOW("truncate", FILES),
    ALLOW("umask", FILES),
    ALLOW("mknod", FILES),
    ALLOW("mknodat", FILES),
    ALLOW("chmod", FILES),
    ALLOW("fchmod", FILES),
    ALLOW("fchmodat", FILES),
    ALLOW("chown", FILES),
    ALLOW("fchown", FILES),
    ALLOW("lchown", FILES),
    ALLOW("fchownat", FILES),
    ALLOW("utime", FILES),
    ALLOW("utimes", FILES),
    ALLOW("utimensat", FILES),
    ALLOW("futimesat", FILES),
    ALLOW("getxattr", FILES),
    ALLOW("lgetxattr", FILES),
    ALLOW("fgetxattr", FILES),
    ALLOW("listxattr", FILES),
    ALLOW("llistxattr", FILES),
    ALLOW("flistxattr", FILES),

    ALLOW("brk", MEMORY),
    ALLOW("mmap", MEMORY),
    ALLOW("munmap", MEMORY),
    ALLOW("mprotect", MEMORY),
    ALLOW("mremap", MEMORY),
    ALLOW("madvise", MEMORY),
    ALLOW("msync", MEMORY),
    ALLOW("mincore", MEMORY),
    ALLOW("mlock", MEMORY),
    ALLOW("mlock2", MEMORY),
    ALLOW("mlockall", MEMORY),
    ALLOW("munlock", MEMORY),
    ALLOW("munlockall", MEMORY),
    ALLOW("membarrier", MEMORY),

    ALLOW("execve", START),
    ALLOW("exit", START),
    { "exit_group", SBX_RULE_EXIT, 0, 0, "the end: answered early" },
    ALLOW("arch_prctl", START),
    ALLOW("set_tid_address", START),
    ALLOW("set_robust_list", START),
    ALLOW("get_robust_list", START),
    ALLOW("rseq", START),
    ALLOW("futex", START),
    ALLOW("futex_waitv", START),
    ALLOW("sched_yield", START),
    ALLOW("wait4", START),
    ALLOW("waitid", START),
    ALLOW("restart_syscall", START),

    ALLOW("getpid", SELF),
    ALLOW("getppid", SELF),
    ALLOW("gettid", SELF),
    ALLOW("getuid", SELF),
    ALLOW("geteuid", SELF),
    ALLOW("getgid", SELF),
    ALLOW("getegid", SELF),
    ALLOW("getresuid", SELF),
    ALLOW("getresgid", SELF),
    ALLOW("getgroups", SELF),
    ALLOW("getpgid", SELF),
    ALLOW("getpgrp", SELF),
    ALLOW("getsid", SELF),
    ALLOW("setpgid", SELF),
    ALLOW("setsid", SELF),
    ALLOW("capget", SELF),
    ALLOW("getrlimit", SELF),
    ALLOW("setrlimit", SELF),
    ALLOW("getrusage", SELF),
    ALLOW("getpriority", SELF),
    ALLOW("ioprio_get", SELF),
    ALLOW("times", SELF),
    ALLOW("sysinfo", SELF),
    ALLOW("uname", SELF),
    ALLOW("getcpu", SELF),
    ALLOW("getrandom", SELF),
    ALLOW("sched_getaffinity", SELF),
    ALLOW("sched_getparam", SELF),
    ALLOW("sched_getscheduler", SELF),
    ALLOW("sched_getattr", SELF),
    ALLOW("sched_get_priority_max", SELF),
    ALLOW("sched_get_priority_min", SELF),
    ALLOW("sched_rr_get_interval", SELF),

    ALLOW("rt_sigaction", SIGNALS),
    ALLOW("rt_sigprocmask", SIGNALS),
    ALLOW("rt_sigreturn", SIGNALS),
    ALLOW("rt_sigpending", SIGNALS),
    ALLOW("rt_sigtimedwait", SIGNALS),
    ALLOW("rt_sigsuspend", SIGNALS),
    ALLOW("rt_sigqueueinfo", SIGNALS),
    ALLOW("rt_tgsigqueueinfo", SIGNALS),
    ALLOW("sigaltstack", SIGNALS),
    ALLOW("kill", SIGNALS),
    ALLOW("tkill", SIGNALS),
    ALLOW("tgkill", SIGNALS),
    ALLOW("pause", SIGNALS),
    ALLOW("pidfd_open", SIGNALS),
    ALLOW("pidfd_send_signal", SIGNALS),

    ALLOW("time", CLOCKS),
    ALLOW("gettimeofday", CLOCKS),
    ALLOW("clock_gettime", CLOCKS),
    ALLOW("clock_getres", CLOCKS),
    ALLOW("clock_nanosleep", CLOCKS),
    ALLOW("nanosleep", CLOCKS),
    ALLOW("alarm", CLOCKS),
    ALLOW("getitimer", CLOCKS),
    ALLOW("setitimer", CLOCKS),
    ALLOW("timer_create", CLOCKS),
    ALLOW("timer_settime", CLOCKS),
    ALLOW("timer_gettime", CLOCKS),
    ALLOW("timer_getoverrun", CLOCKS),
    ALLOW("timer_delete", CLOCKS),

    /* a new process: EAGAIN is how a full process table looks */
    { "fork", SBX_RULE_THREAD, EAGAIN, 0, PROCESS },
    { "vfork", SBX_RULE_THREAD, EAGAIN, 0, PROCESS },
    { "clone", SBX_RULE_THREAD, EAGAIN, 0, PROCESS },

    /* honest programs try these and can do without */
    ERRNO("socket", EPERM, "no network, not even loopback"),
    ERRNO("socketpair", EPERM, "unix pairs only, see the argument rows"),
    ERRNO("bind", EPERM, "no network"),
    ERRNO("listen", EPERM, "no network"),
    ERRNO("connect", EPERM, "no network"),
    ERRNO("accept", EPERM, "no network"),
    ERRNO("accept4", EPERM, "no network"),
    ERRNO("memfd_create", EPERM, "memory outside both rlimits"),
    ERRNO("shmget", EPERM, "memory outside both rlimits"),
    ERRNO("shmat", EPERM, "memory outside both rlimits"),
    ERRNO("shmctl", EPERM, "System V memory"),
    ERRNO("shmdt", EPERM, "System V memory"),
    ERRNO("semget", EPERM, "kernel memory of its own"),
    ERRNO("semop", EPERM, "System V semaphores"),
    ERRNO("semtimedop", EPERM, "System V semaphores"),
    ERRNO("semctl", EPERM, "System V semaphores"),
    ERRNO("msgget", EPERM, "kernel memory of its own"),
    ERRNO("msgsnd", EPERM, "System V queues"),
    ERRNO("msgrcv", EPERM, "System V queues"),
    ERRNO("msgctl", EPERM, "System V queues"),
    ERRNO("mq_open", EPERM, "kernel memory of its own"),
    ERRNO("mq_unlink", EPERM, "POSIX queues"),
    ERRNO("setxattr", EOPNOTSUPP, "kernel memory beside the tmpfs limit"),
    ERRNO("lsetxattr", EOPNOTSUPP, "kernel memory beside the tmpfs limit"),
    ERRNO("fsetxattr", EOPNOTSUPP, "kernel memory beside the tmpfs limit"),
    ERRNO("removexattr", EOPNOTSUPP, "goes with setxattr"),
    ERRNO("lremovexattr", EOPNOTSUPP, "goes with setxattr"),
    ERRNO("fremovexattr", EOPNOTSUPP, "goes with setxattr"),
    ERRNO("setuid", EPERM, "ids are the supervisor's choice"),
    ERRNO("setgid", EPERM, "ids are the supervisor's choice"),
    ERRNO("setreuid", EPERM, "ids are the supervisor's choice"),
    ERRNO("setregid", EPERM, "ids are the supervisor's choice"),
    ERRNO("setfsuid", EPERM, "ids are the supervisor's choice"),
    ERRNO("setfsgid", EPERM, "ids are the supervisor's choice"),
    ZERRNO("setresuid", EPERM, "ids are the supervisor's choice"),
    ZERRNO("setresgid", EPERM, "ids are the supervisor's choice"),
    ZERRNO("setgroups", EPERM, "ids are the supervisor's choice"),
    ZERRNO("capset", EPERM, "there are no capabilities"),
    ERRNO("prlimit64", EPERM, "own limits only, see the argument rows"),
    ERRNO("sched_setaffinity", EPERM, "itself only, see the argument rows"),
    ERRNO("setpriority", EPERM, "scheduling is the host's"),
    ERRNO("ioprio_set", EPERM, "scheduling is the host's"),
    ERRNO("sched_setparam", EPERM, "scheduling is the host's"),
    ERRNO("sched_setscheduler", EPERM, "real-time classes starve the host"),
    ERRNO("sched_setattr", EPERM, "real-time classes starve the host"),
    ERRNO("personality", EPERM, "query only, see the argument rows"),
    ERRNO("sync", EPERM, "writes back every file system of the host"),
    ERRNO("syncfs", EPERM, "writes back a file system of the host"),
    ERRNO("reboot", EPERM, "the host's"),
    ERRNO("settimeofday", EPERM, "the host's clock"),
    ERRNO("clock_settime", EPERM, "the host's clock"),
    ERRNO("adjtimex", EPERM, "the host's clock"),
    ERRNO("clock_adjtime", EPERM, "the host's clock"),
    ERRNO("sethostname", EPERM, "the slot's name"),
    ERRNO("setdomainname", EPERM, "the slot's name"),
    ERRNO("syslog", EPERM, "the host's kernel log"),
    ERRNO("name_to_handle_at", EOPNOTSUPP, "half of a walk out of the root"),
    ERRNO("kcmp", EPERM, "compares kernel objects' addresses"),
    ERRNO("process_madvise", EPERM, "works on another process's memory"),
    ZERRNO("seccomp", EPERM, "a second listener would hide calls"),
    ERRNO("vhangup", EPERM, "terminals"),

    /* nobody honest makes these from inside an interpreter */
    KILL("inotify_init", "kernel memory per watch, and news of host files"),
    KILL("inotify_init1", "kernel memory per watch, and news of host files"),
    KILL("inotify_add_watch", "goes with inotify_init1"),
    KILL("fanotify_init", "sees and stops the host's file accesses"),
    KILL("fanotify_mark", "sees and stops the host's file accesses"),
    KILL("ptrace", "takes over another process"),
    KILL("process_vm_readv", "reads another process"),
    KILL("process_vm_writev", "writes another process"),
    KILL("pidfd_getfd", "takes another process's descriptor"),
    KILL("unshare", "namespaces open kernel paths meant for root"),
    KILL("setns", "namespaces of others"),
    KILL("mount", "changes the root"),
    KILL("umount2", "uncovers what a mount hides"),
    KILL("pivot_root", "changes the root"),
    KILL("chroot", "a classic way out of a root"),
    KILL("open_tree", "new mount interface"),
    KILL("move_mount", "new mount interface"),
    KILL("fsopen", "new mount interface"),
    KILL("fsconfig", "new mount interface"),
    KILL("fsmount", "new mount interface"),
    KILL("fspick", "new mount interface"),
    KILL("mount_setattr", "new mount interface"),
    KILL("open_by_handle_at", "opens any file of a host file system"),
    KILL("bpf", "programs in the kernel"),
    KILL("perf_event_open", "kernel counters, a long row of holes"),
    KILL("userfaultfd", "stops the kernel in the middle of a copy"),
    KILL("keyctl", "keyrings are not in a namespace"),
    KILL("add_key", "keyrings are not in a namespace"),
    KILL("request_key", "starts a helper of the host as root"),
    KILL("kexec_load", "another kernel"),
    KILL("kexec_file_load", "another kernel"),
    KILL("init_module", "code in the kernel"),
    KILL("finit_module", "code in the kernel"),
    KILL("delete_module", "code in the kernel"),
    KILL("iopl", "hardware"),
    KILL("ioperm", "hardware"),
    KILL("modify_ldt", "odd segments, a long row of holes"),
    KILL("swapon", "the host's"),
    KILL("swapoff", "the host's"),
    KILL("acct", "writes the host's process list to a file"),
    KILL("quotactl", "the host's file systems"),
    KILL("quotactl_fd", "the host's file systems"),
    KILL("lookup_dcookie", "the host's file names"),
    KILL("nfsservctl", "the host's"),
    KILL("uselib", "maps a file at a fixed place"),

    /* not there, as on an older kernel: libc and runtimes fall back */
    ZABSENT("clone3", "flags in memory, which no filter can see"),
    ABSENT("execveat", "libc falls back to execve"),
    ABSENT("io_uring_setup", "calls that pass no filter"),
    ABSENT("io_uring_enter", "calls that pass no filter"),
    ABSENT("io_uring_register", "calls that pass no filter"),
    ABSENT("splice", "page tricks between pipes and files"),
    ABSENT("vmsplice", "page tricks between pipes and memory"),
    ABSENT("tee", "goes with splice"),
    ABSENT("pkey_alloc", "writable memory the hook would not see"),
    ABSENT("pkey_mprotect", "writable memory the hook would not see"),
    ABSENT("pkey_free", "goes with pkey_alloc"),
    ABSENT("memfd_secret", "memory outside both rlimits"),
    ABSENT("remap_file_pages", "nobody needs it"),
    ABSENT("mbind", "placement is the host's"),
    ABSENT("set_mempolicy", "placement is the host's"),
    ABSENT("get_mempolicy", "placement is the host's"),
    ABSENT("migrate_pages", "placement is the host's"),
    ABSENT("move_pages", "placement is the host's"),
    ABSENT("process_mrelease", "works on another process"),
    ZABSENT("landlock_create_ruleset", "the child's own rules are in force"),
    ZABSENT("landlock_add_rule", "the child's own rules are in force"),
    ZABSENT("landlock_restrict_self", "the child's own rules are in force"),
    ZABSENT("prctl", "harmless options only, see the argument rows"),
    { NULL, SBX_RULE_ENOSYS, 0, 0, NULL }
};


#define ARG_ALLOW(name, arg, value, why)                                       \
    { name, arg, SBX_ARG_IS, (uint32_t) (value), SBX_RULE_ALLOW, 0, 0, why }
#define ARG_ERRNO(name, arg, value, err, why)                                  \
    { name, arg, SBX_ARG_IS, (uint32_t) (value), SBX_RULE_ERRNO, err, 0, why }
#define ARG_KILL(name, arg, value, why)                                        \
    { name, arg, SBX_ARG_IS, (uint32_t) (value), SBX_RULE_KILL, 0, 0, why }
#define PRCTL(option)  ARG_ALLOW("prctl", 0, option, "about itself, harmless")

/* CLONE_NEWTIME is not here: in clone its bit is part of the exit signal. */
#define CLONE_NAMESPACES                                                       \
    (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER                 \
     | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP)

/* linux/prctl.h of older machines lacks it. */
#ifndef PR_SET_VMA
#define PR_SET_VMA  0x53564d41
#endif

/* Linux 6.5 */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD  76
#endif


/* All rows of one call stand together; the first that matches decides. */
const sbx_syscall_arg_t sbx_syscall_args[] = {
    { "clone", 0, SBX_ARG_HAS, CLONE_NAMESPACES, SBX_RULE_KILL, 0, 0,
      "namespaces open kernel paths meant for root" },
    { "clone", 0, SBX_ARG_HAS, CLONE_PARENT, SBX_RULE_KILL, 0, 0,
      "would make a process the supervisor's child" },
    { "clone", 0, SBX_ARG_HAS, CLONE_PTRACE, SBX_RULE_KILL, 0, 0,
      "hands the new process to a tracer" },
    { "clone", 0, SBX_ARG_HAS, CLONE_THREAD, SBX_RULE_ALLOW, 0, 0,
      "a thread, not a process" },

    /* a zygote enters the slot's pid namespace, its child the others */
    { "setns", 1, SBX_ARG_HAS, CLONE_NEWPID | CLONE_NEWNS, SBX_RULE_KILL, 0, 1,
      "namespaces of others" },

    ARG_KILL("fcntl", 1, F_NOTIFY, "news of host files, as inotify"),
    ARG_ERRNO("fcntl", 1, F_SETLEASE, EPERM, "holds up whoever opens the file"),

    ARG_KILL("ioctl", 1, TIOCSTI, "types into a terminal"),
    ARG_KILL("ioctl", 1, TIOCLINUX, "pastes into a terminal"),
    ARG_KILL("ioctl", 1, TIOCCONS, "takes the host's console"),

    ARG_ALLOW("socketpair", 0, AF_UNIX, "a pipe with two directions"),
    /* What a pair holds is the kernel's memory, which only a cgroup counts: as
     * many pairs as there are descriptors, each of the default size. */
    ARG_ERRNO("setsockopt", 2, SO_SNDBUF, EPERM, "kernel memory"),
    ARG_ERRNO("setsockopt", 2, SO_SNDBUFFORCE, EPERM, "kernel memory"),
    ARG_ERRNO("setsockopt", 2, SO_ATTACH_FILTER, EPERM,
        "programs in the kernel"),
    ARG_ERRNO("setsockopt", 2, SO_ATTACH_BPF, EPERM,
        "programs in the kernel"),
    ARG_ERRNO("setsockopt", 2, SO_ATTACH_REUSEPORT_CBPF, EPERM,
        "programs in the kernel"),
    ARG_ERRNO("setsockopt", 2, SO_ATTACH_REUSEPORT_EBPF, EPERM,
        "programs in the kernel"),

    /*
     * Either of them makes the kernel give a socket that sends an abstract
     * name, and all runs are in one network namespace: a socketpair whose other
     * end is closed could then pass messages and descriptors to another run.
     */
    ARG_ERRNO("setsockopt", 2, SO_PASSCRED, EPERM, "names the socket"),
    ARG_ERRNO("setsockopt", 2, SO_PASSPIDFD, EPERM, "names the socket"),

    /* an errno of 0: it says that it did, and does not */
    ARG_ERRNO("fadvise64", 3, POSIX_FADV_DONTNEED, 0,
        "throws the interpreter's files out of the host's page cache"),

    ARG_ALLOW("personality", 0, 0xffffffff, "the query"),
    ARG_ALLOW("prlimit64", 0, 0, "itself; a slot's init may have its uid"),
    ARG_ALLOW("sched_setaffinity", 0, 0, "itself, within its cpuset"),

    PRCTL(PR_SET_NAME), PRCTL(PR_GET_NAME), PRCTL(PR_SET_VMA),
    PRCTL(PR_GET_DUMPABLE), PRCTL(PR_SET_PDEATHSIG),
    PRCTL(PR_GET_PDEATHSIG), PRCTL(PR_CAPBSET_READ), PRCTL(PR_GET_SECCOMP),
    PRCTL(PR_GET_NO_NEW_PRIVS), PRCTL(PR_SET_NO_NEW_PRIVS),
    PRCTL(PR_GET_TIMERSLACK), PRCTL(PR_SET_TIMERSLACK),
    PRCTL(PR_GET_KEEPCAPS), PRCTL(PR_GET_SECUREBITS),
    PRCTL(PR_GET_THP_DISABLE), PRCTL(PR_SET_THP_DISABLE),
    PRCTL(PR_GET_TID_ADDRESS), PRCTL(PR_GET_CHILD_SUBREAPER),
    PRCTL(PR_GET_SPECULATION_CTRL),

    { NULL, 0, SBX_ARG_IS, 0, SBX_RULE_ENOSYS, 0, 0, NULL }
};
