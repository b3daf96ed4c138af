/* SPDX-License-Identifier: BSD-2-Clause */
/* status_thread.h - what another thread does while a call is made. */
#ifndef ITAPI_TESTS_STATUS_STATUS_THREAD_H
#define ITAPI_TESTS_STATUS_STATUS_THREAD_H

#include "itx_api.h"

/* Is inside it_evd_wait when this returns; ends when the EVD does. */
void status_thread_waits(it_evd_handle_t evd);

/* Once the calling thread sleeps: frees the EVD; sends it a signal. */
void status_thread_frees(it_evd_handle_t evd);
void status_thread_interrupts(void);

#endif
