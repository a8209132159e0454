/*
 * sbx_huge.h: program text in huge pages, which a fork inherits ready.
 */

#ifndef SBX_HUGE_H
#define SBX_HUGE_H

/*
 * Moves text into anonymous huge pages, in place: that of the object which holds
 * the address `within`, NULL: the program's.  Where the kernel gives no huge
 * pages the text stays as it is.  Runs in: zygote, while no other thread runs in
 * that text.
 */
void sbx_huge_text(const void *within);

#endif
