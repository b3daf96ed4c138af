/* SPDX-License-Identifier: BSD-2-Clause */
/* status_thread.h - actions of another thread during a call. */
#ifndef ITAPI_TESTS_STATUS_STATUS_THREAD_H
#define ITAPI_TESTS_STATUS_STATUS_THREAD_H

#include "itx_api.h"

/* Returns when the thread is inside it_evd_wait. The thread ends with the EVD. */
void status_thread_waits(it_evd_handle_t evd);

/* When the calling thread sleeps: free the EVD; send it a signal. */
void status_thread_frees(it_evd_handle_t evd);
void status_thread_interrupts(void);

#endif
