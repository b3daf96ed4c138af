/* SPDX-License-Identifier: BSD-2-Clause */
/* it_evd_create, itx_evd_create_mixed and it_evd_free. */
#include "evd/calls/evd_calls.h"

#include "base/base_futex.h"

#include "itx_api.h"

#include <pthread.h>

static struct base_pool evd_pool; /* set up once; has a lock of its own */
static pthread_once_t evd_pool_once = PTHREAD_ONCE_INIT;

#define EVD_STREAMS_ALL                                                                            \
    ((unsigned)ITX_STREAM_DTO | (unsigned)ITX_STREAM_CM_REQ | (unsigned)ITX_STREAM_CM_MSG |        \
     (unsigned)ITX_STREAM_ASYNC_AFF | (unsigned)ITX_STREAM_ASYNC_UNAFF |                           \
     (unsigned)ITX_STREAM_SOFTWARE)

struct evd_spec {
    const char *call;
    struct evd_ia *ia;
    it_event_type_t stream;
    unsigned streams;
    unsigned flags;
    size_t size;
    size_t threshold;
    struct evd *aevd; /* NULL: none */
};

static void evd_pool_setup(void)
{
    base_pool_init(&evd_pool, IT_HANDLE_TYPE_EVD, sizeof(struct evd));
}

void evd_pool_renew(void)
{
    base_pool_renew(&evd_pool);
}

/* ---------------------------------------------------------------- checks */

static it_status_t evd_check_flags(const struct evd_spec *spec, bool wants_aevd, const int *fd)
{
    bool aggregate = spec->stream == IT_AEVD_NOTIFICATION_EVENT_STREAM;
    unsigned evd_flag = spec->flags;

    if (evd_flag & ~EVD_FLAGS_ALL)
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, spec->call, evd_flag);
    if (!aggregate && (spec->streams == 0 || (spec->streams & ~EVD_STREAMS_ALL)))
        return base_refuse(IT_ERR_INVALID_EVD_TYPE, spec->call, "event_number %#x, streams %#x",
                           (unsigned)spec->stream, spec->streams);
    if (!aggregate && (evd_flag & IT_EVD_DEQUEUE_NOTIFICATIONS))
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, spec->call, evd_flag);
    if (aggregate && wants_aevd)
        return base_refuse(IT_ERR_AEVD_NOT_ALLOWED, spec->call, "aevd_handle of an aggregate EVD");
    if ((evd_flag & IT_EVD_CREATE_FD) && (!fd || wants_aevd))
        return base_refuse(IT_ERR_MISMATCH_FD, spec->call, "fd %p, %s AEVD", (const void *)fd,
                           wants_aevd ? "with an" : "no");
    return IT_SUCCESS;
}

static it_status_t evd_check_sizes(const struct evd_spec *spec)
{
    if (spec->stream == IT_AEVD_NOTIFICATION_EVENT_STREAM)
        return IT_SUCCESS; /* ignored */
    if (spec->size == 0)
        return base_refuse(IT_ERR_INVALID_QUEUE_SIZE, spec->call, "sevd_queue_size 0");
    if (spec->size > EVD_QUEUE_MAX)
        return base_refuse(IT_ERR_RESOURCE_QUEUE_SIZE, spec->call,
                           "sevd_queue_size %zu, at most %zu", spec->size, (size_t)EVD_QUEUE_MAX);
    if (spec->threshold > spec->size)
        return base_refuse(IT_ERR_INVALID_THRESHOLD, spec->call,
                           "sevd_threshold %zu, sevd_queue_size %zu", spec->threshold, spec->size);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- making one */

/* Size of the stream's longest event. Each event is a member of the union it_event_t. */
static size_t evd_record_size(it_event_type_t stream)
{
    switch ((unsigned)stream) {
    case IT_DTO_EVENT_STREAM:
        return sizeof(struct evd_dto);
    case IT_ASYNC_AFF_EVENT_STREAM:
        return sizeof(it_affiliated_event_t);
    case IT_ASYNC_UNAFF_EVENT_STREAM:
        return sizeof(it_unaffiliated_event_t);
    case IT_SOFTWARE_EVENT_STREAM:
        return sizeof(it_software_event_t);
    default: /* connection management, and mixed streams */
        return sizeof(it_event_t);
    }
}
_Static_assert(sizeof(struct evd_dto) <= sizeof(it_event_t), "completions among other events");

static bool evd_setup_queue(struct evd *evd, const struct evd_spec *spec)
{
    if (evd_is_aggregate(evd))
        return true;
    evd->threshold = spec->threshold;
    return evd_queue_init(&evd->queue, spec->size, evd_record_size(spec->stream));
}

/* Makes an EVD that no other object knows yet. Returns NULL without resources. */
static struct evd *evd_new(const struct evd_spec *spec)
{
    struct evd *evd;

    (void)pthread_once(&evd_pool_once, evd_pool_setup); /* cannot fail */
    evd = base_pool_get(&evd_pool);
    if (!evd)
        return NULL;
    evd->ia = spec->ia;
    evd->stream = spec->stream;
    evd->streams = spec->streams;
    evd->flags = spec->flags;
    evd->notifies = (spec->flags & IT_EVD_DEQUEUE_NOTIFICATIONS) != 0;
    evd->enabled = true;
    evd->fd = -1;
    atomic_store_explicit(&evd->unsent, evd_is_aggregate(evd), memory_order_relaxed);
    if (!evd_setup_queue(evd, spec))
        goto err_put;
    if ((spec->flags & IT_EVD_CREATE_FD) && !evd_fd_create(evd))
        goto err_queue;
    base_lock_init(&evd->lock);
    base_lock_init(&evd->fd_lock);
    return evd;

err_queue:
    evd_queue_destroy(&evd->queue);
err_put:
    base_pool_put(&evd_pool, evd);
    return NULL;
}

static void evd_delete(struct evd *evd)
{
    evd_source_close(evd);
    evd_fd_close(evd);
    evd_queue_destroy(&evd->queue);
    base_lock_destroy(&evd->fd_lock);
    base_lock_destroy(&evd->lock);
    base_pool_put(&evd_pool, evd);
}

/* Waits until no thread is inside the EVD; EVD_DYING keeps new ones out. */
static void evd_drain_users(struct evd *evd)
{
    uint32_t users = atomic_load_explicit(&evd->users, memory_order_acquire);

    while (users != EVD_DYING) {
        base_futex_wait(&evd->users, users);
        users = atomic_load_explicit(&evd->users, memory_order_acquire);
    }
}

/* Enters the EVD into its IA and AEVD. Steps that may fail come first. */
static it_status_t evd_place(struct evd *evd, struct evd *aevd)
{
    it_status_t status;

    if (aevd && !evd_hold(aevd))
        return IT_ERR_INVALID_AEVD;
    evd->aevd = aevd;
    status = evd_ia_register(evd);
    if (status != IT_SUCCESS) {
        if (aevd)
            evd_release(aevd);
        return status;
    }
    evd_ia_link(evd->ia, &evd->object);
    base_object_publish(&evd->object, &evd->ia->object);
    base_object_set_entries(&evd->object, &evd_entries);
    return IT_SUCCESS;
}

/* Creates the EVD of spec, of which this function fills in the IA and the AEVD. */
static it_status_t evd_create(struct evd_spec *spec, it_ia_handle_t ia_handle,
                              it_evd_handle_t aevd_handle, it_evd_handle_t *evd_handle_out, int *fd)
{
    struct evd *evd;
    it_status_t status;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, spec->call, ia_handle);
    spec->ia = (struct evd_ia *)(void *)ia_handle;
    spec->aevd = evd_aggregate_from_handle(spec->ia, aevd_handle);
    if (aevd_handle && !spec->aevd)
        return base_refuse_handle(IT_ERR_INVALID_AEVD, spec->call, aevd_handle);
    if (!evd_handle_out)
        return base_refuse_null(spec->call, evd_handle_out);
    if (atomic_load_explicit(&spec->ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    status = evd_check_flags(spec, aevd_handle != NULL, fd);
    if (status == IT_SUCCESS)
        status = evd_check_sizes(spec);
    if (status != IT_SUCCESS)
        return status;

    evd = evd_new(spec);
    if (!evd)
        return IT_ERR_RESOURCES;
    status = evd_place(evd, spec->aevd);
    if (status != IT_SUCCESS) {
        evd_delete(evd);
        return base_refuse(status, spec->call, "event_number %s, aevd_handle %p",
                           itx_event_string(spec->stream), (void *)aevd_handle);
    }
    if (spec->flags & IT_EVD_CREATE_FD)
        *fd = evd->fd;
    *evd_handle_out = evd_handle(evd);
    return IT_SUCCESS;
}

it_status_t it_evd_create(it_ia_handle_t ia_handle, it_event_type_t event_number,
                          it_evd_flags_t evd_flag, size_t sevd_queue_size, size_t sevd_threshold,
                          it_evd_handle_t aevd_handle, it_evd_handle_t *evd_handle_out, int *fd)
{
    struct evd_spec spec = {
        .call = __func__,
        .stream = event_number,
        .streams = evd_stream_bit(event_number),
        .flags = (unsigned)evd_flag,
        .size = sevd_queue_size,
        .threshold = sevd_threshold,
    };

    return evd_create(&spec, ia_handle, aevd_handle, evd_handle_out, fd);
}

it_status_t itx_evd_create_mixed(it_ia_handle_t ia_handle, uint32_t streams,
                                 it_evd_flags_t evd_flag, size_t queue_size, size_t threshold,
                                 it_evd_handle_t aevd_handle, it_evd_handle_t *evd_handle_out,
                                 int *fd)
{
    struct evd_spec spec = {
        .call = __func__,
        .stream = ITX_MIXED_EVENT_STREAM,
        .streams = streams,
        .flags = (unsigned)evd_flag,
        .size = queue_size,
        .threshold = threshold,
    };

    return evd_create(&spec, ia_handle, aevd_handle, evd_handle_out, fd);
}

/* ---------------------------------------------------------------- freeing one */

/* Makes all waiters return: one that looked before EVD_DYING was set is woken and looks again. */
static void evd_abort_waiters(struct evd *evd)
{
    (void)atomic_fetch_or_explicit(&evd->users, EVD_DYING, memory_order_acq_rel);
    evd_wake_all(evd);
}

static void evd_leave_aggregate(struct evd *evd)
{
    struct evd *old;

    base_lock_take(&evd->lock);
    old = evd_member_change_locked(evd, NULL);
    base_lock_drop(&evd->lock);
    evd_aggregate_left(old);
}

static bool evd_take_left(struct evd *evd, it_event_t *event)
{
    bool left;

    base_lock_take(&evd->lock);
    left = evd_queue_count(&evd->queue) != 0;
    if (left)
        (void)evd_pop_locked(evd, event);
    base_lock_drop(&evd->lock);
    return left;
}

/* Rejects the requests in the queue, which nobody can answer any more. */
static void evd_refuse_requests(struct evd *evd)
{
    void (*refuse)(uint64_t id, bool datagram) = evd->ia->refuse_request;
    it_event_t event;

    if (!refuse || !evd_carries(evd, IT_CM_REQ_EVENT_STREAM))
        return;
    while (evd_take_left(evd, &event)) {
        if (event.event_number == IT_CM_REQ_CONN_REQUEST_EVENT)
            refuse(event.conn_req.cn_est_id, false);
        else if (event.event_number == IT_CM_REQ_UD_SERVICE_REQUEST_EVENT)
            refuse(event.ud_svc_request.ud_svc_req_id, true);
    }
}

void evd_destroy(struct evd *evd)
{
    base_object_unpublish(&evd->object);
    (void)evd_callback_stop(evd);
    /* No new pins from here on: no other object reaches the EVD, and then it is dying. */
    evd_ia_unregister(evd);
    evd_leave_aggregate(evd);
    evd_abort_waiters(evd);
    evd_drain_users(evd);
    evd_refuse_requests(evd);
    evd_ia_unlink(evd->ia, &evd->object);
    evd_delete(evd);
}

it_status_t it_evd_free(it_evd_handle_t handle)
{
    struct evd *evd = evd_from_handle(handle);

    if (!evd)
        return base_refuse_handle(IT_ERR_INVALID_EVD, __func__, handle);
    /* The destruction waits for the end of the callback, and of waits on the EVD. */
    if (evd_callback_is_caller(evd) || evd_wait_is_caller(evd) ||
        !base_object_claim_free(&evd->object))
        return base_refuse_handle(IT_ERR_EVD_BUSY, __func__, handle);
    evd_destroy(evd);
    return IT_SUCCESS;
}
