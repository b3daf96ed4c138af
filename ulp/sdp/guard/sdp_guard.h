/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's memory may not be mapped, or another thread may unmap it while a call copies. The
 * kernel's calls return EFAULT in these cases, and so do those of this library. A handler of
 * SIGSEGV and SIGBUS calls sdp_guard_catch. Without such a handler a fault ends the program as
 * usual.
 */
#ifndef ITAPI_ULP_SDP_GUARD_SDP_GUARD_H
#define ITAPI_ULP_SDP_GUARD_SDP_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Copies to or from the program's memory. Returns false if some of it is not mapped. */
bool sdp_guard_copy(void *to, const void *from, size_t octets);

/* Returns false if the memory cannot be read. */
bool sdp_guard_readable(const void *from, size_t octets);

/* Returns false if a page of the memory is missing, or cannot be written although it must be. */
bool sdp_guard_present(void *octets, size_t count, bool written);

/* Returns true if a part of the memory is not mapped now. */
bool sdp_guard_is_missing(const void *octets, size_t count);

/*
 * Holds memory that any thread may access until it is released. A page that is missing becomes one
 * of zeros. Returns a number, or -1: too many are held.
 */
int sdp_guard_hold(const void *from, size_t octets);

/* Returns true if a page was missing. Removes the pages of zeros. */
bool sdp_guard_release(int number);

/* Called in a child after fork(2), whose only thread moves no memory. */
void sdp_guard_forget(void);

/*
 * For the handler of a fault. Returns false if the fault concerns no memory above. For a guarded
 * copy it does not return: the copy fails.
 */
bool sdp_guard_catch(const siginfo_t *info, void *context);

/*
 * Installs that handler; set by hook/. Called before the first access, and when a connection
 * starts.
 */
extern void (*sdp_guard_install)(void);

#endif /* ITAPI_ULP_SDP_GUARD_SDP_GUARD_H */
