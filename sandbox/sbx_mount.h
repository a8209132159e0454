/*
 * sbx_mount.h: mount flags of whole trees, new kernels and old.
 */

#ifndef SBX_MOUNT_H
#define SBX_MOUNT_H

/*
 * Adds flags (MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC) to the mount at dir
 * and to every mount below; flags that are there stay, since in a user namespace
 * they are locked.  mount_setattr is 5.12; before, each mount is remounted.
 * Runs in: supervisor, slot init.  Returns 0, or -1 with errno.
 */
int sbx_mount_restrict(const char *dir, unsigned long flags);

#endif
