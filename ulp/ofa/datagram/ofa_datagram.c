/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports and UD queue pairs: creation, end, and progress. */
#include "datagram/ofa_datagram.h"

#include "queue/ofa_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAIN_MOST 64 /* datagrams read in a row */

/* ---- Progress ------------------------------------------------------------------------------- */

static void receive_locked(struct ofa_socket *socket)
{
    struct ofa_path path;

    for (int i = 0; i < DRAIN_MOST; i++) {
        ssize_t length = ofa_socket_receive(socket, &path);

        if (length < 0)
            return;
        ofa_datagram_deliver_locked(socket, &path, (size_t)length);
    }
}

static void push_all_locked(struct ofa_socket *socket)
{
    for (int i = 0; i < OFA_NUMBERS_PER_PORT; i++)
        if (socket->qps[i])
            ofa_datagram_push_locked(socket->qps[i]);
}

static void move_locked(struct ofa_socket *socket)
{
    receive_locked(socket);
    if (socket->waiting_sends > 0)
        push_all_locked(socket);
}

static void on_timer(struct ofa_timer *timer)
{
    struct ofa_socket *socket =
        (struct ofa_socket *)(void *)((char *)timer - offsetof(struct ofa_socket, timer));

    (void)pthread_mutex_lock(&socket->context->datagram_lock);
    move_locked(socket);
    (void)pthread_mutex_unlock(&socket->context->datagram_lock);
    ofa_watch_arm(&socket->watch);
}

/* Returns true if a program may be asleep until there is a completion. */
static bool is_awaited_locked(const struct ofa_socket *socket)
{
    for (int i = 0; i < OFA_NUMBERS_PER_PORT; i++)
        if (socket->qps[i] &&
            (ofa_cq_is_armed(socket->qps[i]->send_cq) || ofa_cq_is_armed(socket->qps[i]->recv_cq)))
            return true;
    return false;
}

/*
 * Runs on the watch's thread. A program that polls reads its datagrams itself, and faster. If no
 * program waits, the timer reads them a little later.
 */
static void on_readable(struct ofa_watch *watch)
{
    struct ofa_socket *socket =
        (struct ofa_socket *)(void *)((char *)watch - offsetof(struct ofa_socket, watch));
    bool awaited;

    (void)pthread_mutex_lock(&socket->context->datagram_lock);
    awaited = is_awaited_locked(socket);
    if (awaited)
        move_locked(socket);
    (void)pthread_mutex_unlock(&socket->context->datagram_lock);
    if (awaited)
        ofa_watch_arm(watch);
    else
        ofa_timer_set(&socket->timer, ofa_clock_ns() + OFA_SOCKET_PERIOD_NS);
}

static void move_all_locked(struct ofa_context *context)
{
    for (struct ofa_socket *socket = context->sockets; socket; socket = socket->next)
        move_locked(socket);
}

static void watch_all_locked(struct ofa_context *context)
{
    for (struct ofa_socket *socket = context->sockets; socket; socket = socket->next)
        ofa_watch_arm(&socket->watch);
}

/* Called when a poll finds the CQ empty, or when it is armed. */
static void on_progress(struct ofa_cq *cq, bool armed)
{
    struct ofa_context *context = ofa_context_of(cq->base.context);

    if (armed)
        (void)pthread_mutex_lock(&context->datagram_lock);
    else if (pthread_mutex_trylock(&context->datagram_lock) != 0)
        return; /* another thread makes progress */
    if (armed)
        watch_all_locked(context);
    else
        move_all_locked(context);
    (void)pthread_mutex_unlock(&context->datagram_lock);
}

/* ---- Ports ---------------------------------------------------------------------------------- */

int ofa_datagram_add_port(struct ofa_context *context, uint16_t port)
{
    struct ofa_socket *socket = calloc(1, sizeof(*socket));
    int error;

    if (!socket)
        return ENOMEM;
    socket->context = context;
    socket->port = port;
    socket->watch.callback = on_readable;
    socket->timer.callback = on_timer;
    error = ofa_socket_bind(socket, port);
    if (error != 0) {
        free(socket);
        return error;
    }
    error = ofa_watch_open(&socket->watch);
    if (error != 0) {
        (void)close(socket->watch.fd);
        free(socket);
        return error;
    }
    (void)pthread_mutex_lock(&context->datagram_lock);
    socket->next = context->sockets;
    context->sockets = socket;
    (void)pthread_mutex_unlock(&context->datagram_lock);
    return 0;
}

void ofa_datagram_close_ports(struct ofa_context *context)
{
    struct ofa_socket *socket;

    while ((socket = context->sockets) != NULL) {
        context->sockets = socket->next;
        ofa_watch_close(&socket->watch);
        ofa_timer_cancel(&socket->timer);
        (void)close(socket->watch.fd);
        free(socket);
    }
}

void ofa_datagram_leave_ports_locked(struct ofa_context *context)
{
    for (struct ofa_socket *socket = context->sockets; socket; socket = socket->next) {
        if (socket->watch.fd >= 0)
            (void)close(socket->watch.fd);
        socket->watch.fd = -1;
    }
}

/* ---- Queue pairs ---------------------------------------------------------------------------- */

static struct ofa_socket *socket_of(const struct ofa_qp *qp)
{
    struct ofa_socket *socket = qp->context->sockets;

    while (socket && socket->port != qp->base.qp_num >> 8)
        socket = socket->next;
    return socket;
}

static struct ofa_qp **place_of(struct ofa_qp *qp)
{
    return &qp->datagrams->socket->qps[qp->base.qp_num % OFA_NUMBERS_PER_PORT];
}

static int open_rings(const struct ofa_qp *qp, struct ofa_datagrams *datagrams)
{
    const struct ibv_qp_cap *cap = &qp->cap;
    size_t list = cap->max_send_sge * sizeof(struct ibv_sge);
    int error = ofa_ring_open(&datagrams->sends, cap->max_send_wr,
                              sizeof(struct ofa_datagram_send) +
                                  (list > cap->max_inline_data ? list : cap->max_inline_data));

    if (error != 0)
        return error;
    return ofa_ring_open(&datagrams->receives, cap->max_recv_wr,
                         sizeof(struct ofa_datagram_recv) +
                             cap->max_recv_sge * sizeof(struct ibv_sge));
}

static void free_datagrams(struct ofa_datagrams *datagrams)
{
    free(datagrams->sends.places);
    free(datagrams->receives.places);
    free(datagrams);
}

int ofa_datagram_open(struct ofa_qp *qp)
{
    struct ofa_datagrams *datagrams = calloc(1, sizeof(*datagrams));

    if (!datagrams)
        return ENOMEM;
    if (open_rings(qp, datagrams) != 0) {
        free_datagrams(datagrams);
        return ENOMEM;
    }
    qp->datagrams = datagrams;
    atomic_store_explicit(&qp->send_cq->progress, on_progress, memory_order_relaxed);
    atomic_store_explicit(&qp->recv_cq->progress, on_progress, memory_order_relaxed);
    (void)pthread_mutex_lock(&qp->context->datagram_lock);
    datagrams->socket = socket_of(qp);
    *place_of(qp) = qp;
    (void)pthread_mutex_unlock(&qp->context->datagram_lock);
    return 0;
}

static void forget_locked(struct ofa_qp *qp)
{
    struct ofa_datagrams *datagrams = qp->datagrams;

    datagrams->socket->waiting_sends -= datagrams->sends.count;
    datagrams->sends.count = 0;
    datagrams->receives.count = 0;
    datagrams->told_last = false;
    ofa_cq_forget(qp->send_cq, qp);
    if (qp->recv_cq != qp->send_cq)
        ofa_cq_forget(qp->recv_cq, qp);
}

int ofa_datagram_close(struct ofa_qp *qp)
{
    (void)pthread_mutex_lock(&qp->context->datagram_lock);
    *place_of(qp) = NULL;
    forget_locked(qp);
    (void)pthread_mutex_unlock(&qp->context->datagram_lock);
    free_datagrams(qp->datagrams);
    return 0;
}

void ofa_datagram_enter(struct ofa_qp *qp, enum ibv_qp_state state)
{
    (void)pthread_mutex_lock(&qp->context->datagram_lock);
    if (state == IBV_QPS_ERR) {
        ofa_datagram_flush_sends_locked(qp);
        ofa_datagram_flush_receives_locked(qp);
    } else {
        qp->datagrams->qkey = qp->attr.qkey;
    }
    if (state == IBV_QPS_RESET)
        forget_locked(qp);
    (void)pthread_mutex_unlock(&qp->context->datagram_lock);
}
