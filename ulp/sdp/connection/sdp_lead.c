/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that sleeps in poll, select or epoll reads for all connections. */
#include "connection/sdp_adapter.h"
#include "connection/sdp_connection.h"

#include <itx_api.h>

#include <pthread.h>
#include <stddef.h>

__thread bool sdp_leads __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool has_key;

/* Cleanup of a thread that was cancelled while it slept. */
static void at_thread_end(void *unused)
{
    (void)unused;
    sdp_lead_end(false);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, at_thread_end) == 0;
}

int sdp_lead_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct sdp_adapter *adapter = sdp_adapter_opened();
    int fd;

    (void)pthread_once(&once, make_key);
    if (!adapter || adapter->device || !has_key || pthread_setspecific(key, &key) != 0 ||
        itx_ia_lead_begin(adapter->ia, &fd) != IT_SUCCESS)
        return -1;
    sdp_leads = true;
    return fd;
}

void sdp_lead_end(bool readable)
{
    if (!sdp_leads)
        return;
    sdp_leads = false;
    (void)itx_ia_lead_end(sdp_adapter_opened()->ia, readable ? IT_TRUE : IT_FALSE);
}
