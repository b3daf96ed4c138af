/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_quiet.h"

#include "deliver/udapl_deliver.h"

/* Takes completions like a consumer that ignores them. */
static void take_completions(it_evd_handle_t evd, void *unused)
{
    it_event_t event;
    DAT_EVENT ignored;

    (void)unused;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        (void)udapl_deliver_completion(NULL, &event, &ignored);
}

static void take_connections(it_evd_handle_t evd, void *unused)
{
    it_event_t event;
    DAT_EVENT ignored;

    (void)unused;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        (void)udapl_deliver_connection(&event, &ignored);
}

it_status_t udapl_quiet_create(const struct udapl_ia *ia, it_event_type_t stream, size_t events,
                               it_evd_handle_t *evd)
{
    it_status_t status =
        it_evd_create(ia->it, stream, (it_evd_flags_t)0, events, 1, NULL, evd, NULL);

    if (status != IT_SUCCESS)
        return status;
    status = it_evd_callback_attach(
        *evd, stream == IT_DTO_EVENT_STREAM ? take_completions : take_connections, NULL);
    if (status != IT_SUCCESS) {
        (void)it_evd_free(*evd); /* cannot fail: no object uses it */
        *evd = NULL;
    }
    return status;
}

void udapl_quiet_free(it_evd_handle_t evd)
{
    if (!evd)
        return;
    (void)it_evd_callback_detach(evd); /* cannot fail: a callback is attached */
    (void)it_evd_free(evd);
}
