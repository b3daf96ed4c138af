/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions of a stream, credits, and waiting. */
#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define POLL_BATCH 16
#define CHUNK_MAX  65536u
#define CLOSE_MS   3000 /* time without progress before a close gives up */

void rs_fail(struct rsock *rs, int error)
{
    rs->state = RS_FAILED;
    rs->error = error;
}

/* ---- Messages of the peer ------------------------------------------------------------------- */

/*
 * Takes over a span that the peer has written: memory that this end may write to. The length is
 * written last; 0 means that the span was taken over.
 */
static void load_span(struct rsock *rs)
{
    struct rs_span *from = &rs->target->spans[rs->span_expected];
    struct rs_span *to = &rs->span[rs->span_expected];
    uint32_t length = __atomic_load_n(&from->length, __ATOMIC_ACQUIRE);

    if (length == 0 || to->length != 0)
        return;
    *to = (struct rs_span){from->address, from->key, length};
    __atomic_store_n(&from->length, 0, __ATOMIC_RELAXED);
    rs->span_expected = (rs->span_expected + 1) % RS_SPANS;
}

static void on_control(struct rsock *rs, uint32_t control)
{
    if (control == RS_SHUTDOWN && rs->writable) {
        rs->readable = false;
    } else if (control == RS_SHUTDOWN || control == RS_DISCONNECT) {
        rs->readable = false;
        rs->writable = false;
        rs->state = RS_OVER;
    }
}

static void on_data(struct rsock *rs, uint32_t length)
{
    if (length > rs->granted) {
        rs_fail(rs, EPROTO);
        return;
    }
    rs->granted -= length;
    rs->ready += length;
    rs->received++;
}

static void on_message(struct rsock *rs, uint32_t message)
{
    uint32_t data = message & RS_DATA_MASK;

    switch (message >> RS_KIND_SHIFT) {
    case RS_DATA:
        on_data(rs, data);
        return;
    case RS_CREDITS:
        rs->sent_limit = (uint16_t)data;
        load_span(rs);
        return;
    case RS_MAPPING:
        rs->received++;
        return;
    case RS_CONTROL:
        on_control(rs, data);
        return;
    default:
        rs_fail(rs, EPROTO);
        return;
    }
}

/* ---- Completions ---------------------------------------------------------------------------- */

static void on_received(struct rsock *rs, const struct ibv_wc *wc)
{
    uint32_t index = (uint32_t)wc->wr_id;

    if (wc->status != IBV_WC_SUCCESS)
        return; /* flushed; an rdma_cm event has the reason */
    if (wc->byte_len != sizeof(uint32_t)) {
        rs_fail(rs, EPROTO);
        return;
    }
    on_message(rs, rs->messages[index]);
    if (rs->state == RS_CONNECTED || rs->state == RS_ACCEPTING || rs->state == RS_CONNECTING)
        (void)rs_post_receive(rs, index);
}

static void on_sent(struct rsock *rs, const struct ibv_wc *wc)
{
    uint32_t tag = (uint32_t)wc->wr_id;

    if (wc->status != IBV_WC_SUCCESS) {
        if (rs->state == RS_CONNECTED)
            rs_fail(rs, ECONNRESET);
        return;
    }
    switch (tag >> RS_KIND_SHIFT) {
    case RS_CREDITS:
    case RS_CONTROL:
        rs->controls_left++;
        return;
    case RS_WRITTEN:
        rs->requests_left++;
        rs->send_room += tag & RS_DATA_MASK;
        return;
    case RS_DATA:
        rs->send_room += tag & RS_DATA_MASK;
        rs->requests_left += 2;
        return;
    default:
        rs->requests_left += 2;
        return;
    }
}

static void poll_queue(struct rsock *rs, struct ibv_cq *cq)
{
    struct ibv_wc wc[POLL_BATCH];
    int count;

    do {
        count = ibv_poll_cq(cq, POLL_BATCH, wc);
        for (int i = 0; i < count; i++) {
            /* The opcode of a failed request is undefined, and is not used. */
            if (wc[i].status == IBV_WC_SUCCESS && (wc[i].opcode & IBV_WC_RECV))
                on_received(rs, &wc[i]);
            else
                on_sent(rs, &wc[i]);
        }
    } while (count == POLL_BATCH);
}

static void poll_queues(struct rsock *rs)
{
    if (rs->requests.cq)
        poll_queue(rs, rs->requests.cq);
    if (rs->receives.cq)
        poll_queue(rs, rs->receives.cq);
}

/* ---- Credits -------------------------------------------------------------------------------- */

static void give_span(struct rsock *rs, uint32_t message)
{
    uint32_t half = (uint32_t)rs->option[RS_RCVBUF] / 2;
    struct rs_span span = {(uintptr_t)rs->receive_ring + rs->grant_offset, rs->target_mr->rkey,
                           half};
    struct rs_write write = {
        .from = &span,
        .length = sizeof(span),
        .is_inline = true,
        .to = rs->peer_target + rs->peer_span * sizeof(span),
        .key = rs->peer_target_key,
        .tag = message,
    };

    if (rs_post_write(rs, &write) != 0)
        return;
    rs->freed -= half;
    rs->granted += half;
    rs->grant_offset = rs->grant_offset == 0 ? half : 0;
    rs->peer_span = (rs->peer_span + 1) % rs->peer_spans;
}

/*
 * Gives credits when half of the receives or half of the buffer is free. So the number of credit
 * messages on the way is bounded by the peer's own messages.
 */
static void give_credits(struct rsock *rs)
{
    uint32_t half = (uint32_t)rs->option[RS_RCVBUF] / 2;
    uint32_t receives = (uint32_t)rs->option[RS_RQSIZE];

    while (rs->state == RS_CONNECTED && rs->controls_left > 0 &&
           (rs->freed >= half || (uint16_t)(rs->received - rs->credited) >= receives / 2)) {
        uint32_t message = rs_message(RS_CREDITS, (uint16_t)(rs->received + receives));

        rs->credited = rs->received;
        if (rs->freed >= half)
            give_span(rs, message);
        else
            (void)rs_post_message(rs, message);
    }
}

void rs_progress(struct rsock *rs)
{
    poll_queues(rs);
    give_credits(rs);
    /* Data that arrived before the end of the connection are processed first. */
    if (rs->state != RS_LISTENING && rs_has_events(rs)) {
        poll_queues(rs);
        rs_take_events(rs);
        give_credits(rs);
    }
}

bool rs_can_send(const struct rsock *rs)
{
    return rs->state == RS_CONNECTED && rs->writable && rs->requests_left >= 2 &&
           rs->send_room >= RS_LEAST && (uint16_t)(rs->sent_limit - rs->sent) > RS_CONTROLS &&
           rs->span[rs->span_used].length > 0;
}

bool rs_can_receive(const struct rsock *rs)
{
    return rs->ready > 0 || rs->state == RS_OVER || rs->state == RS_FAILED ||
           (rs->state == RS_CONNECTED && !rs->readable);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

void rs_take_cq_event(struct rsock *rs)
{
    struct ibv_cq *cq;
    void *context;

    if (ibv_get_cq_event(rs->events, &cq, &context) != 0)
        return;
    ibv_ack_cq_events(cq, 1);
    (cq == rs->receives.cq ? &rs->receives : &rs->requests)->armed = false;
}

static bool arm_queue(struct rs_queue *queue)
{
    if (!queue->cq || queue->armed)
        return false;
    queue->armed = true;
    (void)ibv_req_notify_cq(queue->cq, 0);
    return true;
}

bool rs_arm(struct rsock *rs, bool requests)
{
    bool armed = arm_queue(&rs->receives);

    /* Without a control message left, credits wait for a completion. */
    if (requests || rs->controls_left == 0)
        armed |= arm_queue(&rs->requests);
    return armed;
}

/*
 * Returns the time to sleep before a keepalive, which finds a peer that has vanished, or before a
 * close gives up on a peer that takes no data.
 */
static int idle_ms(const struct rsock *rs)
{
    if (rs->closing)
        return CLOSE_MS;
    if (!rs->option[RS_KEEPALIVE_ON] || rs->state != RS_CONNECTED)
        return -1;
    return rs->option[RS_KEEPIDLE] * 1000;
}

/* One thread sleeps for all; the others wait until it wakes. Returns 0 or errno. */
static int sleep_once(struct rsock *rs)
{
    struct pollfd fds[] = {
        {.fd = rs->fd, .events = POLLIN},
        {.fd = rs->events ? rs->events->fd : -1, .events = POLLIN},
    };
    int timeout = idle_ms(rs);
    int count;
    int error;

    if (rs->sleeping) {
        (void)pthread_cond_wait(&rs->changed, &rs->lock);
        return 0;
    }
    rs->sleeping = true;
    (void)pthread_mutex_unlock(&rs->lock);
    count = poll(fds, 2, timeout);
    error = count < 0 ? errno : 0;
    (void)pthread_mutex_lock(&rs->lock);
    rs->sleeping = false;
    (void)pthread_cond_broadcast(&rs->changed);
    if (count == 0 && rs->closing)
        rs_fail(rs, ETIMEDOUT);
    else if (count == 0 && rs->state == RS_CONNECTED)
        (void)rs_post_message(rs, rs_message(RS_CONTROL, RS_KEEPALIVE));
    if (count > 0 && fds[1].revents != 0 && rs->pollers == 0)
        rs_take_cq_event(rs);
    return error;
}

/* To sleep and wake takes longer than a short message and its answer. */
bool rs_goes_on_polling(const struct rsock *rs, uint64_t *since)
{
    struct timespec time;
    uint64_t now;

    if (rs->state != RS_CONNECTED || rs->option[RS_POLLING_TIME] == 0)
        return false;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    now = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    *since = *since == 0 ? now : *since;
    return now - *since < (uint64_t)rs->option[RS_POLLING_TIME];
}

int rs_await(struct rsock *rs, bool (*done)(const struct rsock *), bool nonblocking)
{
    uint64_t since = 0;
    int error = 0;

    while (error == 0) {
        rs_progress(rs);
        if (done(rs))
            return 0;
        if (nonblocking)
            error = EAGAIN;
        else if (!rs_goes_on_polling(rs, &since) && !rs_arm(rs, done != rs_can_receive))
            error = sleep_once(rs);
    }
    return error;
}

/* ---- Room for data -------------------------------------------------------------------------- */

static bool knows_whether_to_send(const struct rsock *rs)
{
    return rs_can_send(rs) || rs->state >= RS_OVER || !rs->writable;
}

int rs_await_room(struct rsock *rs, bool nonblocking)
{
    int error;

    if (rs->state < RS_CONNECTING)
        return ENOTCONN;
    if (rs_can_send(rs))
        return 0;
    error = rs_await(rs, knows_whether_to_send, nonblocking);
    return error == 0 && !rs_can_send(rs) ? ECONNRESET : error;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

void *rs_take_ring(struct rsock *rs, uint32_t *length, uint64_t wanted)
{
    unsigned char *place = rs->send_ring + rs->send_offset;
    uint32_t size = (uint32_t)rs->option[RS_SNDBUF];

    *length = least(least(wanted, CHUNK_MAX), least(rs->send_room, size - rs->send_offset));
    rs->send_offset = (rs->send_offset + *length) % size;
    rs->send_room -= *length;
    return place;
}
