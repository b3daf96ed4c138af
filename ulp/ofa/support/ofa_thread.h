/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of this layer. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_THREAD_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_THREAD_H

/*
 * Detached, and with all signals blocked: those of the process are for the program's threads. 0 or
 * errno.
 */
int ofa_thread_start(void *(*run)(void *argument));

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_THREAD_H */
