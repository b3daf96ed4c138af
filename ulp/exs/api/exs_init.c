/* SPDX-License-Identifier: BSD-2-Clause */
/* Initialization of the library, and again in a child. */
#include "adapter/exs_adapter.h"
#include "api/exs_call.h"
#include "api/exs_file.h"
#include "api/exs_poll.h"
#include "queue/exs_queue.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards initialization */
static _Atomic bool ready;
static bool registered; /* forget is registered with pthread_atfork */

/*
 * Runs in a child of fork. The other threads are gone, and their locks may never be released, so
 * all state is reset.
 */
static void forget(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    atomic_store_explicit(&ready, false, memory_order_relaxed);
    exs_calls_forget();
    exs_polls_forget();
    exs_files_forget();
    exs_timers_forget();
    exs_socket_forget();
    exs_memory_forget();
    exs_queues_forget();
    exs_adapter_forget();
}

int exs_init(int version)
{
    int error = 0;

    if (version != EXS_VERSION1)
        error = EINVAL;
    (void)pthread_mutex_lock(&lock);
    if (error == 0 && !registered) {
        error = pthread_atfork(NULL, NULL, forget);
        registered = error == 0;
    }
    if (error == 0)
        atomic_store_explicit(&ready, true, memory_order_relaxed);
    (void)pthread_mutex_unlock(&lock);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

bool exs_api_ready(void)
{
    return atomic_load_explicit(&ready, memory_order_relaxed);
}
