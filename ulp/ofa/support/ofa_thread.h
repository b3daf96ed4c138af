/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of this layer. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_THREAD_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_THREAD_H

/*
 * Starts a detached thread with all signals blocked: signals are for the program's threads. Returns
 * 0 or errno.
 */
int ofa_thread_start(void *(*run)(void *argument));

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_THREAD_H */
