/*
 * sbx_mount.h: mount flags of whole trees, new kernels and old.
 */

#ifndef SBX_MOUNT_H
#define SBX_MOUNT_H

/*
 * Adds flags (MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC) to the mount at dir
 * and to every mount below; flags that are there stay: in a user namespace they
 * are locked.  mount_setattr is 5.12; before, each mount is remounted.
 * Runs in: supervisor, slot init.  Returns 0, or -1 with errno.
 */
int sbx_mount_restrict(const char *dir, unsigned long flags);

/*
 * A descriptor (O_PATH) of a program as a read-only mount shows it, which then
 * is nowhere to be seen any more.  What executes it can reach the file by
 * /proc/self/exe, from any root, but change nothing of it, its mode and times
 * included.  Returns -1 with errno.  Runs in: supervisor.
 */
int sbx_mount_program(const char *path);

#endif
