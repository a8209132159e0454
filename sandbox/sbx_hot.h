/*
 * sbx_hot.h: the pages of a zygote that every run uses.
 */

#ifndef SBX_HOT_H
#define SBX_HOT_H

typedef struct sbx_hot_s sbx_hot_t;

/*
 * Learns, from a fork of this process that goes through the motions of a run,
 * which pages a run writes to, and which others a fork does not inherit (of
 * files, whose page tables the kernel does not copy).  motions: 0, or -1 and
 * nothing is learned; or it calls sbx_hot_end, and does not return.  A fork that
 * takes seconds is ended.  The result is shared with all later forks and stays
 * for good; NULL: nothing was learned, which costs time and is no error.  Runs
 * in: zygote.
 */
sbx_hot_t *sbx_hot_learn(int (*motions)(sbx_hot_t *hot, void *arg), void *arg);
void sbx_hot_end(sbx_hot_t *hot) __attribute__((noreturn));

/* What the motions used so far does not count.  Runs in: the fork that learns. */
void sbx_hot_begin(sbx_hot_t *hot);

/*
 * Has this process's own copies made of them, and the others mapped.  Or, in
 * idle time, that and each of them used, which on a virtual machine fills the
 * host's tables too.  Both take NULL.  Run in: child.
 */
void sbx_hot_copy(const sbx_hot_t *hot);
void sbx_hot_warm(const sbx_hot_t *hot);

#endif
