/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the library, which take none of the program's signals. */
#ifndef ITAPI_BASE_THREAD_H
#define ITAPI_BASE_THREAD_H

#include <pthread.h>

/*
 * pthread_create for a thread of the library. It blocks the signals that other processes and
 * threads send, which so go to the program's threads. Signals of a fault in the thread itself stay
 * unblocked: the program's handler, or a sanitizer's, gets them. Returns 0 or an errno.
 */
int base_thread_create(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
