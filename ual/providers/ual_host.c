/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of ual/vp_host.h: they access the objects that are opaque to a provider. */
#include "ual/providers/ual_providers.h"

#include "base/base_log.h"
#include "evd/calls/evd_calls.h"
#include "evd/loop/evd_waiter.h"
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_object.h"
#include "ual/post/ual_post.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

_Static_assert((int)VP_LOG_ERROR == (int)BASE_LOG_ERROR && (int)VP_LOG_WARN == (int)BASE_LOG_WARN &&
                   (int)VP_LOG_INFO == (int)BASE_LOG_INFO &&
                   (int)VP_LOG_DEBUG == (int)BASE_LOG_DEBUG,
               "the levels of the log");

static void host_log(enum vp_log_level level, const char *format, ...)
{
    char text[384];
    va_list arguments;

    if (atomic_load_explicit(&base_log_level, memory_order_relaxed) < (int)level)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments); /* may be truncated */
    va_end(arguments);
    base_log_write((enum base_log_level)level, "%s", text);
}

/* ---------------------------------------------------------------- objects */

static struct ual_ia *host_ia_of(const void *object)
{
    return ual_ia_of(object);
}

static bool host_hold(void *object)
{
    return base_object_hold(object);
}

static void host_release(void *object)
{
    base_object_release(object);
}

static const char *host_ia_name(const struct ual_ia *ia)
{
    return ia->name;
}

static void host_ia_raise_spigot(struct ual_ia *ia, it_event_type_t number, size_t spigot_id)
{
    evd_raise_unaffiliated_spigot(&ia->evd, number, spigot_id);
}

static void host_ia_fail(struct ual_ia *ia)
{
    evd_ia_fail(&ia->evd);
}

static void host_ia_set_progress(struct ual_ia *ia, const struct evd_progress_ops *ops,
                                 void *context)
{
    ia->evd.progress = ops;
    ia->evd.progress_context = context;
}

/* ---------------------------------------------------------------- LMR */

static void host_lmr_info(const struct ual_lmr *lmr, struct vp_lmr_info *info)
{
    *info = (struct vp_lmr_info){
        .pz = lmr->pz,
        .addr = lmr->addr,
        .length = lmr->length,
        .addr_mode = lmr->addr_mode,
        .privs = lmr->privs,
        .key = lmr->key,
    };
}

static void host_lmr_set_key(struct ual_lmr *lmr, it_rmr_context_t key)
{
    lmr->key = key;
    atomic_store_explicit(&lmr->linked, true, memory_order_relaxed);
}

static void host_lmr_unlinked(struct ual_lmr *lmr)
{
    atomic_store_explicit(&lmr->linked, false, memory_order_relaxed);
}

static const _Atomic uint64_t *host_lmr_pass(it_lmr_handle_t handle)
{
    const struct ual_lmr *lmr = ual_lmr_from(handle);

    return lmr ? &lmr->pass : NULL;
}

/* ---------------------------------------------------------------- RMR, S-RQ */

static void host_rmr_info(const struct ual_rmr *rmr, struct vp_rmr_info *info)
{
    *info = (struct vp_rmr_info){.pz = rmr->pz, .type = rmr->type};
}

static void host_rmr_set_type(struct ual_rmr *rmr, it_rmr_type_t type)
{
    rmr->type = type;
}

static void host_srq_info(const struct ual_srq *srq, struct vp_srq_info *info)
{
    *info = (struct vp_srq_info){.pz = srq->pz, .max_recv_segments = srq->max_recv_segments};
}

static void host_srq_set_ops(struct ual_srq *srq, const struct vp_srq_ops *ops, size_t segments)
{
    srq->ops = ops;
    srq->max_recv_segments = segments;
}

static void host_srq_lock(struct ual_srq *srq)
{
    base_lock_take(&srq->lock);
}

static void host_srq_unlock(struct ual_srq *srq)
{
    base_lock_drop(&srq->lock);
}

static void host_srq_limits_locked(const struct ual_srq *srq, struct vp_srq_limits *limits)
{
    base_lock_assert_held(&srq->lock);
    *limits = (struct vp_srq_limits){.max_recv_dtos = srq->max_recv_dtos,
                                     .low_watermark = srq->low_watermark};
}

static void host_srq_set_limits_locked(struct ual_srq *srq, const struct vp_srq_limits *limits)
{
    base_lock_assert_held(&srq->lock);
    srq->max_recv_dtos = limits->max_recv_dtos;
    srq->low_watermark = limits->low_watermark;
}

static void host_srq_raise(struct ual_srq *srq, it_event_type_t number)
{
    evd_raise_affiliated_srq(&ual_ia_of(&srq->object)->evd, number, ual_srq_handle(srq));
}

/* ---------------------------------------------------------------- EP */

static void host_ep_info(const struct ual_ep *ep, struct vp_ep_info *info)
{
    *info = (struct vp_ep_info){
        .pz = ep->pz,
        .srq = ep->srq,
        .flags = ep->flags,
        .handle = (it_ep_handle_t)(uintptr_t)ep,
        .datagrams = ep->datagrams,
        .spigot_id = ep->spigot_id,
    };
}

static void host_ep_set_ops(struct ual_ep *ep, const struct vp_ep_ops *ops)
{
    ep->ops = ops;
}

static it_ep_attributes_t *host_ep_attributes(struct ual_ep *ep)
{
    return &ep->attr;
}

static uint32_t host_ep_immediate_bits(const struct ual_ep *ep)
{
    return atomic_load_explicit(&ep->immediate_bits, memory_order_relaxed);
}

static void host_ep_lock(struct ual_ep *ep)
{
    base_lock_take(&ep->lock);
}

static void host_ep_unlock(struct ual_ep *ep)
{
    base_lock_drop(&ep->lock);
}

static bool host_ep_step_locked(struct ual_ep *ep, enum ual_ep_step step)
{
    return (unsigned)step < UAL_EP_STEPS && ual_ep_step_locked(ep, step, NULL);
}

static void host_ep_set_path_locked(struct ual_ep *ep, const it_path_t *path)
{
    base_lock_assert_held(&ep->lock);
    ep->dst_path = *path;
}

/* ---------------------------------------------------------------- events */

static struct evd *host_evd(const struct ual_ep *ep, enum vp_queue queue)
{
    return queue == VP_REQUESTS ? ep->request_evd : ep->recv_evd;
}

static enum vp_completed host_complete(struct ual_ep *ep, enum vp_queue queue,
                                       const struct vp_completion *completion)
{
    struct evd_dto dto = {
        .event_number = completion->event_number,
        .status = completion->status,
        .ep = ual_ep_handle(ep),
        .cookie = completion->cookie,
        .unlinked = completion->unlinked,
        .length = completion->length,
        .notify = completion->notify,
        .has_immediate = completion->has_immediate,
        .retire_value = completion->retire_value,
        .retire = completion->retire,
    };

    if (completion->has_immediate)
        dto.immediate = completion->immediate;
    if (completion->event_number == IT_DTO_UD_RECV_CMPL_EVENT)
        dto.datagram = completion->datagram;
    switch (evd_push_dto(host_evd(ep, queue), &dto)) {
    case EVD_PUSHED:
        return VP_COMPLETED;
    case EVD_PUSHED_WAKE:
        return VP_COMPLETED_WAKE;
    case EVD_LOST:
        break;
    }
    return VP_COMPLETION_LOST;
}

static void host_wake(struct ual_ep *ep, enum vp_queue queue)
{
    evd_wake(host_evd(ep, queue));
}

static void host_ep_disown(struct ual_ep *ep)
{
    evd_disown_dto(ep->request_evd, ual_ep_handle(ep));
    evd_disown_dto(ep->recv_evd, ual_ep_handle(ep));
}

static void *host_source_get(struct ual_ep *ep, enum vp_queue queue,
                             const struct evd_source_ops *ops)
{
    return evd_source_get(host_evd(ep, queue), ops);
}

static it_status_t host_source_attach(struct ual_ep *ep, enum vp_queue queue,
                                      const struct evd_source_ops *ops, void *context, int fd)
{
    return evd_source_attach(host_evd(ep, queue), ops, context, fd);
}

static bool host_source_start(struct ual_ep *ep, enum vp_queue queue)
{
    return evd_source_start(host_evd(ep, queue));
}

static it_evd_handle_t host_source_evd(struct ual_ep *ep, enum vp_queue queue, size_t *size)
{
    *size = evd_size(host_evd(ep, queue));
    return evd_handle(host_evd(ep, queue));
}

static void host_source_lock(struct ual_ep *ep, enum vp_queue queue)
{
    evd_source_lock(host_evd(ep, queue));
}

static void host_source_unlock(struct ual_ep *ep, enum vp_queue queue)
{
    evd_source_unlock(host_evd(ep, queue));
}

static bool host_source_move(struct ual_ep *ep, enum vp_queue queue)
{
    return evd_source_move(host_evd(ep, queue));
}

static bool host_ep_is_mixed(const struct ual_ep *ep, enum vp_queue queue)
{
    return host_evd(ep, queue) == ep->connect_evd;
}

static void host_ep_raise(struct ual_ep *ep, it_event_type_t number)
{
    evd_raise_affiliated_ep(&ual_ia_of(&ep->object)->evd, number, ual_ep_handle(ep));
}

static void host_listen_info(struct ual_listen *listen, struct vp_listen_info *info)
{
    *info = (struct vp_listen_info){
        .spigot_id = listen->spigot_id,
        .flags = listen->flags,
        .conn_qual = &listen->conn_qual,
        .connect_evd = listen->connect_evd,
    };
}

/* ---------------------------------------------------------------- datagrams */

static struct ual_pz *host_address_pz(const struct ual_address *address)
{
    return address->pz;
}

static void host_ud_service_info(const struct ual_ud_service *service,
                                 struct vp_ud_service_info *info)
{
    *info = (struct vp_ud_service_info){
        .conn_qual = service->conn_qual,
        .path = service->path,
        .private_data = service->private_data,
        .private_length = service->private_length,
    };
}

/* ---------------------------------------------------------------- the table */

const struct vp_host ual_host = {
    .abi = VP_ABI,
    .size = sizeof(struct vp_host),
    .log = host_log,
    .layout =
        {
            .area =
                {
                    [VP_IA] = offsetof(struct ual_ia, area),
                    [VP_PZ] = offsetof(struct ual_pz, area),
                    [VP_LMR] = offsetof(struct ual_lmr, area),
                    [VP_RMR] = offsetof(struct ual_rmr, area),
                    [VP_SRQ] = offsetof(struct ual_srq, area),
                    [VP_EP] = offsetof(struct ual_ep, area),
                    [VP_LISTEN] = offsetof(struct ual_listen, area),
                    [VP_ADDRESS] = offsetof(struct ual_address, area),
                    [VP_UD_SERVICE] = offsetof(struct ual_ud_service, area),
                },
            .source_context = offsetof(struct evd, source_context),
        },
    .ia_of = host_ia_of,
    .ia_name = host_ia_name,
    .hold = host_hold,
    .release = host_release,
    .entries = &ual_ep_entries,
    .evd_dequeue = evd_dequeue_one,
    .evd_found_nothing = evd_source_found_nothing,
    .ia_set_progress = host_ia_set_progress,
    .ia_info_alloc = ual_ia_info_alloc,
    .ia_raise_spigot = host_ia_raise_spigot,
    .ia_fail = host_ia_fail,
    .ia_call = ual_host_ia_call,
    .ia_is_current = ual_host_ia_is_current,
    .task_new = ual_host_task_new,
    .task_submit = ual_host_task_submit,
    .task_free = ual_host_task_free,
    .watch_start = ual_host_watch_start,
    .watch_stop = ual_host_watch_stop,
    .timer_new = ual_host_timer_new,
    .timer_start = ual_host_timer_start,
    .timer_stop = ual_host_timer_stop,
    .timer_free = ual_host_timer_free,
    .waiter_sleep = evd_waiter_sleep,
    .waiter_begin_poll = evd_waiter_begin_poll,
    .waiter_end_poll = evd_waiter_end_poll,
    .waiter_wake = evd_waiter_wake,
    .lmr_info = host_lmr_info,
    .lmr_set_key = host_lmr_set_key,
    .lmr_unlinked = host_lmr_unlinked,
    .lmr_pass = host_lmr_pass,
    .rmr_info = host_rmr_info,
    .rmr_set_type = host_rmr_set_type,
    .srq_info = host_srq_info,
    .srq_set_ops = host_srq_set_ops,
    .srq_lock = host_srq_lock,
    .srq_unlock = host_srq_unlock,
    .srq_limits_locked = host_srq_limits_locked,
    .srq_set_limits_locked = host_srq_set_limits_locked,
    .srq_raise = host_srq_raise,
    .ep_info = host_ep_info,
    .ep_set_ops = host_ep_set_ops,
    .ep_attributes = host_ep_attributes,
    .ep_immediate_bits = host_ep_immediate_bits,
    .ep_lock = host_ep_lock,
    .ep_unlock = host_ep_unlock,
    .ep_state = ual_ep_state,
    .ep_step_locked = host_ep_step_locked,
    .ep_set_path_locked = host_ep_set_path_locked,
    .ep_set_ud_state_locked = ual_ep_set_ud_state_locked,
    .ep_ud_state = ual_ep_ud_state,
    .complete = host_complete,
    .wake = host_wake,
    .ep_disown = host_ep_disown,
    .ep_report = ual_ep_report,
    .ep_raise = host_ep_raise,
    .source_get = host_source_get,
    .source_attach = host_source_attach,
    .source_start = host_source_start,
    .source_evd = host_source_evd,
    .source_lock = host_source_lock,
    .source_unlock = host_source_unlock,
    .source_move = host_source_move,
    .listen_info = host_listen_info,
    .request_add = ual_request_add,
    .request_announce = ual_request_announce,
    .request_offer = ual_request_announce_unless_full,
    .request_withdraw = ual_request_withdraw,
    .address_pz = host_address_pz,
    .ud_service_info = host_ud_service_info,
    .ud_report = ual_ud_service_report,
    .ep_is_mixed = host_ep_is_mixed,
};
