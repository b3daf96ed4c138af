/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening and closing devices. Most of verbs is in the table of a context, through which inline
 * functions of the headers call.
 */
#include "device/ofa_device.h"
#include "link/ofa_async.h"
#include "link/ofa_fork.h"
#include "link/ofa_knock.h"
#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "link/ofa_silence.h"
#include "memory/ofa_adapter.h"
#include "memory/ofa_memory.h"
#include "port/ofa_gid.h"
#include "post/ofa_post.h"
#include "qp/ofa_qp.h"
#include "queue/ofa_event.h"
#include "queue/ofa_queue.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(sizeof(struct verbs_context) == 648, "as in rdma-core 44");

/* Fills the table. The header answers EOPNOTSUPP for slots that stay NULL. */
static void fill_operations(struct verbs_context *verbs)
{
    struct ibv_context_ops *ops = &verbs->context.ops;

    ops->_compat_query_device = ibv_query_device;
    ops->alloc_mw = ofa_alloc_mw;
    ops->bind_mw = ofa_bind_mw;
    ops->dealloc_mw = ofa_dealloc_mw;
    ops->poll_cq = ofa_poll_cq;
    ops->req_notify_cq = ofa_req_notify_cq;
    ops->post_srq_recv = ofa_post_srq_recv;
    ops->post_send = ofa_post_send;
    ops->post_recv = ofa_post_recv;

    ofa_slots_fill(verbs);
    verbs->query_port = ofa_query_port;
    verbs->query_device_ex = ofa_query_device_ex;
    verbs->alloc_td = ofa_alloc_td;
    verbs->dealloc_td = ofa_dealloc_td;
    verbs->alloc_parent_domain = ofa_alloc_parent_domain;
    verbs->create_cq_ex = ofa_create_cq_ex;
    verbs->create_qp_ex = ofa_create_qp_ex;
    verbs->create_srq_ex = ofa_create_srq_ex;
    verbs->get_srq_num = ofa_get_srq_num;
    verbs->sz = sizeof(*verbs);
    verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

static int vectors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (int)online : 1;
}

struct ibv_context *ibv_open_device(struct ibv_device *base)
{
    struct ofa_device *device = ofa_device_of(base);
    struct ofa_context *context = calloc(1, sizeof(*context));
    int error;

    if (!context)
        return NULL;
    error = ofa_fifo_open(&context->async);
    if (error != 0) {
        free(context);
        errno = error;
        return NULL;
    }
    fill_operations(&context->verbs);
    ofa_silence_init(context);
    ofa_event_init_port(context);
    context->verbs.context.device = base;
    /* It has no use, but programs duplicate it. */
    context->verbs.context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    context->verbs.context.async_fd = context->async.fd;
    context->verbs.context.num_comp_vectors = vectors();
    (void)pthread_mutex_init(&context->verbs.context.mutex, NULL);
    (void)pthread_mutex_init(&context->open_lock, NULL);
    (void)pthread_mutex_init(&context->ep_lock, NULL);
    (void)pthread_mutex_init(&context->lock, NULL);
    (void)pthread_mutex_init(&context->datagram_lock, NULL);
    (void)pthread_mutex_init(&context->window_lock, NULL);
    (void)pthread_mutex_init(&context->knock_lock, NULL);
    context->device = device;
    context->was_up = ofa_port_is_up(device);
    ofa_device_hold(device);
    ofa_fork_add(context);
    return &context->verbs.context;
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
    (void)cmd_fd;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

int ibv_close_device(struct ibv_context *base)
{
    struct ofa_context *context = ofa_context_of(base);

    ofa_silence_close(context);
    ofa_fork_remove(context);
    ofa_link_close(context);
    ofa_async_close(context);
    ofa_number_close(context);
    ofa_adapter_close(context);
    ofa_knock_close(context);
    ofa_fifo_close(&context->async);
    (void)close(base->cmd_fd);
    ofa_device_release(context->device);
    (void)pthread_mutex_destroy(&context->knock_lock);
    (void)pthread_mutex_destroy(&context->window_lock);
    (void)pthread_mutex_destroy(&context->datagram_lock);
    (void)pthread_mutex_destroy(&context->lock);
    (void)pthread_mutex_destroy(&context->ep_lock);
    (void)pthread_mutex_destroy(&context->open_lock);
    (void)pthread_mutex_destroy(&base->mutex);
    free(context);
    return 0;
}
