/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the library. They block all signals: those of the process are for the program's. */
#ifndef ITAPI_ULP_EXS_ADAPTER_EXS_THREAD_H
#define ITAPI_ULP_EXS_ADAPTER_EXS_THREAD_H

#include <pthread.h>

/* Starts a detached thread. Returns 0 or errno; thread may be NULL. */
int exs_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif /* ITAPI_ULP_EXS_ADAPTER_EXS_THREAD_H */
