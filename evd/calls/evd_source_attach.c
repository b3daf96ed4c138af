/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaching a source to an EVD. */
#include "evd/calls/evd_calls.h"

#include <stdlib.h>
#include <sys/eventfd.h>

static void evd_source_go_straight(struct evd *evd, struct evd_source *source)
{
    struct evd_source_view *view = source->context;

    view->lock = &evd->lock;
    view->queued = &evd->queue.count;
    view->notified = &evd->notified;
    source->entries = evd_entries;
    source->entries.dequeue = source->ops->dequeue;
    base_object_set_entries(&evd->object, &source->entries);
    /* evd_ia_fail sets the flag before it resets the entries: one of the two does it here. */
    if (atomic_load(&evd->ia->failed))
        base_object_set_entries(&evd->object, &evd_entries);
}

it_status_t evd_source_attach(struct evd *evd, const struct evd_source_ops *ops, void *context,
                              int fd)
{
    struct evd_source *source = calloc(1, sizeof(*source));

    if (!source)
        return IT_ERR_RESOURCES;
    source->ops = ops;
    source->context = context;
    source->fd = fd;
    source->spin_ns = EVD_SOURCE_SPIN_MIN_NS;
    source->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (source->kick_fd < 0) {
        free(source);
        return IT_ERR_RESOURCES;
    }
    evd->source_context = context;
    base_lock_take(&evd->lock);
    atomic_store_explicit(&evd->source, source, memory_order_release);
    base_lock_drop(&evd->lock);
    if (ops->dequeue)
        evd_source_go_straight(evd, source);
    return IT_SUCCESS;
}
