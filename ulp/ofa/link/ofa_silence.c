/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_silence.h"

#include "link/ofa_number.h"
#include "post/ofa_post.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define NS_PER_MS UINT64_C(1000000)
#define PERIOD_NS (1000 * NS_PER_MS)

/* The least time limit: TCP repeats a lost segment once or twice within it. */
#define LEAST_NS (2000 * NS_PER_MS)

/* ---- One connection -------------------------------------------------------------------------- */

static void set_option(const struct ofa_qp *qp, int level, int name, int value)
{
    (void)itx_ep_set_stream_option(qp->ep, level, name, &value, sizeof(value));
}

/*
 * While a request waits for the peer's process, the kernel asks the peer's kernel once a second. It
 * ends the connection if there is no answer for the time limit.
 */
static void ask(struct ofa_qp *qp, bool ask, uint64_t limit_ns)
{
    if (qp->silence.asks == ask)
        return;
    qp->silence.asks = ask;
    if (ask) {
        set_option(qp, IPPROTO_TCP, TCP_KEEPIDLE, 1);
        set_option(qp, IPPROTO_TCP, TCP_KEEPINTVL, 1);
        set_option(qp, IPPROTO_TCP, TCP_KEEPCNT, (int)(limit_ns / (1000 * NS_PER_MS)));
    }
    set_option(qp, SOL_SOCKET, SO_KEEPALIVE, ask);
}

static bool has_unfinished(const struct ofa_qp *qp)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    return itx_ep_stats(qp->ep, &counters) == IT_SUCCESS &&
           (uint32_t)counters.requests_posted != (uint32_t)counters.requests_ended;
}

/* Returns true if octets have been acknowledged or received since the last look. */
static bool has_moved(struct ofa_silence *silence, const struct tcp_info *info)
{
    bool moved =
        silence->acked != info->tcpi_bytes_acked || silence->received != info->tcpi_bytes_received;

    silence->acked = info->tcpi_bytes_acked;
    silence->received = info->tcpi_bytes_received;
    return moved;
}

/* Returns the time limit; 0: none. */
static uint64_t limit_of(const struct ofa_qp *qp)
{
    uint64_t limit = atomic_load_explicit(&qp->retry_ns, memory_order_relaxed);

    return limit == 0 || limit > LEAST_NS ? limit : LEAST_NS;
}

/* Lets the kernel end the connection with its next try: it has had no answer for too long. */
static void give_up(const struct ofa_qp *qp)
{
    set_option(qp, IPPROTO_TCP, TCP_USER_TIMEOUT, 1);
}

static void look(struct ofa_qp *qp, uint64_t now)
{
    struct ofa_silence *silence = &qp->silence;
    uint64_t limit = limit_of(qp);
    struct tcp_info info = {0};
    socklen_t length = sizeof(info);

    if (!has_unfinished(qp)) {
        silence->since_ns = 0;
        ask(qp, false, limit);
        return;
    }
    if (itx_ep_get_stream_option(qp->ep, IPPROTO_TCP, TCP_INFO, &info, &length) != IT_SUCCESS)
        return;
    if (has_moved(silence, &info) || silence->since_ns == 0)
        silence->since_ns = now;
    else if (info.tcpi_unacked == 0)
        ask(qp, true, limit);
    else if (now - silence->since_ns >= limit && info.tcpi_last_ack_recv * NS_PER_MS >= limit)
        give_up(qp);
}

/* ---- All ------------------------------------------------------------------------------------- */

struct round {
    uint64_t now;
    bool again;
};

/*
 * A connection that no process has claimed after a fork is left alone, and that of a queue pair
 * which is its own peer.
 */
static void visit(struct ofa_qp *qp, void *argument)
{
    struct round *round = argument;

    if (qp->send_ep != qp->ep || qp->link.state != OFA_LINK_UP || !qp->parks || limit_of(qp) == 0)
        return;
    round->again = true;
    if (!ofa_hold_is_suspended(qp))
        look(qp, round->now);
}

static void on_time(struct ofa_timer *timer)
{
    struct ofa_context *context =
        (struct ofa_context *)(void *)((char *)timer - offsetof(struct ofa_context, silence));
    struct round round = {.now = ofa_clock_ns()};

    (void)pthread_mutex_lock(&context->lock);
    ofa_number_each_locked(context, visit, &round);
    if (round.again)
        ofa_timer_set(timer, round.now + PERIOD_NS);
    (void)pthread_mutex_unlock(&context->lock);
}

void ofa_silence_init(struct ofa_context *context)
{
    context->silence.callback = on_time;
}

void ofa_silence_watch(struct ofa_qp *qp)
{
    if (qp->parks && limit_of(qp) != 0)
        ofa_timer_set(&qp->context->silence, ofa_clock_ns() + PERIOD_NS);
}

void ofa_silence_close(struct ofa_context *context)
{
    ofa_timer_cancel(&context->silence);
}
