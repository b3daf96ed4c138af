/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_rdma.h"

#include <itx_api.h>

#include <string.h>

/*
 * If a device places the peer's data, the library is called once in so many checks of the memory.
 */
#define STAMP_LOOKS 1000u

/* ---- Events ------------------------------------------------------------------------------- */

static bool good_completion(struct perf_rdma *rdma, const it_event_t *event)
{
    it_event_t reason;

    if (event->dto_cmpl.dto_status == IT_DTO_SUCCESS)
        return true;
    complain("%s: %s", itx_event_string(event->event_number),
             itx_dto_status_string(event->dto_cmpl.dto_status));
    if (it_evd_dequeue(rdma->connection, &reason) == IT_SUCCESS)
        complain("the connection has ended: %s", itx_event_string(reason.event_number));
    return false;
}

/* Takes the next completion of a queue in the measured mode. */
static bool next_event(struct perf_rdma *rdma, it_evd_handle_t evd, it_event_t *event)
{
    it_status_t status;

    if (rdma->polls) {
        do {
            status = it_evd_dequeue(evd, event);
        } while (status == IT_ERR_QUEUE_EMPTY);
    } else {
        do {
            status = it_evd_wait(evd, IT_TIMEOUT_INFINITE, event, NULL);
        } while (status == IT_ERR_INTERRUPT);
    }
    return succeeded(status, "waiting for a completion") && good_completion(rdma, event);
}

/* Waiting threads need notifications. For polling threads they would be a waste. */
static it_dto_flags_t report_flags(const struct perf_rdma *rdma)
{
    return rdma->polls ? IT_COMPLETION_FLAG : IT_COMPLETION_FLAG | IT_NOTIFY_FLAG;
}

/* ---- Requests ----------------------------------------------------------------------------- */

/* Waits until fewer than this many requests are open. */
static bool reserve(struct perf_rdma *rdma, uint64_t limit)
{
    it_event_t event;

    while (rdma->posted - rdma->finished >= limit) {
        if (!next_event(rdma, rdma->requests, &event))
            return false;
        /* All requests posted before it are finished, too. */
        rdma->finished = event.dto_cmpl.cookie;
    }
    return true;
}

/*
 * Counts a request that is about to be posted, and returns its flags: one in report_every is
 * reported, and so is the last one. With --coalesce the others may wait for it, so that they are
 * sent together.
 */
static it_dto_flags_t next_flags(struct perf_rdma *rdma, bool last)
{
    const struct perf_params *params = rdma->params;

    rdma->posted++;
    if (last || rdma->posted % rdma->report_every == 0)
        return report_flags(rdma);
    if (params->coalesce && params->measure != PERF_LAT)
        return IT_COALESCE_WR_FLAG;
    return (it_dto_flags_t)0;
}

static it_lmr_triplet_t part_of(const struct perf_buffer *buffer, size_t length)
{
    it_lmr_triplet_t segment;

    segment.lmr = buffer->lmr;
    segment.addr.abs = buffer->bytes;
    segment.length = length;
    return segment;
}

static bool post_send(struct perf_rdma *rdma, size_t length, bool last)
{
    it_lmr_triplet_t segment = part_of(&rdma->source, length);
    it_dto_flags_t flags;

    if (!reserve(rdma, rdma->params->depth))
        return false;
    flags = next_flags(rdma, last);
    return succeeded(it_post_send(rdma->ep, &segment, 1, rdma->posted, flags), "it_post_send");
}

static bool post_write(struct perf_rdma *rdma, bool last)
{
    it_lmr_triplet_t segment = part_of(&rdma->source, (size_t)rdma->params->size);
    it_dto_flags_t flags;

    if (!reserve(rdma, rdma->params->depth))
        return false;
    flags = next_flags(rdma, last);
    return succeeded(it_post_rdma_write(rdma->ep, &segment, 1, rdma->posted, flags,
                                        rdma->remote_address, rdma->remote_key),
                     "it_post_rdma_write");
}

static bool post_read(struct perf_rdma *rdma, bool last)
{
    it_lmr_triplet_t segment = part_of(&rdma->target, (size_t)rdma->params->size);
    it_dto_flags_t flags;

    if (!reserve(rdma, rdma->params->depth))
        return false;
    flags = next_flags(rdma, last);
    return succeeded(it_post_rdma_read(rdma->ep, &segment, 1, rdma->posted, flags,
                                       rdma->remote_address, rdma->remote_key),
                     "it_post_rdma_read");
}

/* ---- Messages ----------------------------------------------------------------------------- */

bool perf_rdma_post_receive(struct perf_rdma *rdma)
{
    it_lmr_triplet_t segment = part_of(&rdma->inbox, rdma->inbox.size);

    return succeeded(it_post_recv(rdma->ep, &segment, 1, 0, report_flags(rdma)), "it_post_recv");
}

static bool await_message(struct perf_rdma *rdma, uint32_t *length)
{
    it_event_t event;

    if (!next_event(rdma, rdma->receives, &event))
        return false;
    *length = event.dto_cmpl.transferred_length;
    return true;
}

/* Waits for a message, and posts another receive before anybody could answer this one. */
static bool take_message(struct perf_rdma *rdma, uint32_t *length)
{
    return await_message(rdma, length) && perf_rdma_post_receive(rdma);
}

/* ---- Latency ------------------------------------------------------------------------------ */

static bool restock(struct perf_rdma *rdma)
{
    for (; rdma->taken > 0; rdma->taken--)
        if (!perf_rdma_post_receive(rdma))
            return false;
    return true;
}

/*
 * The message is in transit. Before its answer can arrive, a polling side prepares for the next
 * post and replaces the receive that was used, so the round trip waits for neither.
 */
static bool get_ready(struct perf_rdma *rdma)
{
    return !rdma->polls || (reserve(rdma, rdma->params->depth) && restock(rdma));
}

static void stamp_message(struct perf_rdma *rdma, unsigned char stamp)
{
    rdma->source.bytes[rdma->params->size - 1] = stamp;
}

static bool check_message(struct perf_rdma *rdma, uint32_t length, unsigned char stamp)
{
    if (length == rdma->params->size &&
        (length == 0 || rdma->inbox.bytes[rdma->params->size - 1] == stamp))
        return true;
    complain("a message did not arrive as it was sent");
    return false;
}

static bool send_one(struct perf_rdma *rdma, uint64_t number)
{
    if (rdma->params->verify && rdma->params->size > 0)
        stamp_message(rdma, (unsigned char)number);
    return post_send(rdma, (size_t)rdma->params->size, false) && get_ready(rdma);
}

static bool receive_one(struct perf_rdma *rdma, uint64_t number)
{
    uint32_t length;

    if (!await_message(rdma, &length))
        return false;
    rdma->taken++;
    if (!rdma->polls && !restock(rdma))
        return false;
    return !rdma->params->verify || check_message(rdma, length, (unsigned char)number);
}

static bool send_ping_pong(struct perf_rdma *rdma, uint64_t iters, bool server)
{
    for (uint64_t i = 0; i < iters; i++) {
        if (server && (!receive_one(rdma, i) || !send_one(rdma, i)))
            return false;
        if (!server && (!send_one(rdma, i) || !receive_one(rdma, i)))
            return false;
        perf_sampler_tick(&rdma->sampler);
    }
    return true;
}

static bool stamp_is_there(const struct perf_rdma *rdma)
{
    const unsigned char *last = rdma->target.bytes + rdma->params->size - 1;
    unsigned looks = rdma->sets_crc ? 1 : STAMP_LOOKS;

    do {
        if (__atomic_load_n(last, __ATOMIC_ACQUIRE) == rdma->stamp)
            return true;
    } while (--looks > 0);
    return false;
}

/*
 * Polls the last byte of the memory until it has the peer's next value. Between polls it asks the
 * library for messages, which never come: so this thread itself reads the peer's data, unless a
 * device does, and learns of the connection's end.
 */
static bool await_stamp(struct perf_rdma *rdma)
{
    it_event_t event;
    it_status_t status;

    while (!stamp_is_there(rdma)) {
        status = it_evd_dequeue(rdma->receives, &event);
        if (status == IT_ERR_QUEUE_EMPTY)
            continue;
        if (succeeded(status, "it_evd_dequeue") && good_completion(rdma, &event))
            complain("a message came in place of an RDMA Write");
        return false;
    }
    return true;
}

static bool write_stamp(struct perf_rdma *rdma)
{
    stamp_message(rdma, rdma->stamp);
    return post_write(rdma, false) && get_ready(rdma);
}

static bool write_ping_pong(struct perf_rdma *rdma, uint64_t iters, bool server)
{
    for (uint64_t i = 0; i < iters; i++) {
        rdma->stamp++;
        if (server && (!await_stamp(rdma) || !write_stamp(rdma)))
            return false;
        if (!server && (!write_stamp(rdma) || !await_stamp(rdma)))
            return false;
        perf_sampler_tick(&rdma->sampler);
    }
    return true;
}

/* ---- Streams ------------------------------------------------------------------------------ */

/*
 * A message without a receive ends an iWARP connection. So the receiver says with empty messages
 * for how many more it has posted receives.
 */
static bool take_credit(struct perf_rdma *rdma)
{
    uint32_t length;

    if (rdma->credit > 0) {
        rdma->credit--;
        return true;
    }
    if (!take_message(rdma, &length))
        return false;
    rdma->credit = rdma->credit_batch - 1;
    return true;
}

static bool grant_credit(struct perf_rdma *rdma)
{
    rdma->uncredited++;
    if (rdma->uncredited < rdma->credit_batch)
        return true;
    rdma->uncredited = 0;
    return post_send(rdma, 0, true);
}

static bool post_next(struct perf_rdma *rdma, bool last)
{
    switch (rdma->params->op) {
    case PERF_SEND:
        return take_credit(rdma) && post_send(rdma, (size_t)rdma->params->size, last);
    case PERF_WRITE:
        return post_write(rdma, last);
    case PERF_READ:
        return post_read(rdma, last);
    }
    return false;
}

/* Sends the last message and waits for the answer. Remaining credits may come before it. */
static bool finish_stream(struct perf_rdma *rdma)
{
    uint32_t length;

    /* A Read is finished when its completion has come, other operations when the peer answers. */
    if (!reserve(rdma, 1))
        return false;
    rdma->completed = perf_clock();
    if (!post_send(rdma, 1, true))
        return false;
    do {
        if (!take_message(rdma, &length))
            return false;
        if (length == 0)
            rdma->credit += rdma->credit_batch;
    } while (length == 0);
    return reserve(rdma, 1);
}

static bool stream_out(struct perf_rdma *rdma, uint64_t iters)
{
    for (uint64_t i = 0; i < iters; i++)
        if (!post_next(rdma, i + 1 == iters))
            return false;
    return finish_stream(rdma);
}

/* Receives the other end of a stream. Each Send needs some work. */
static bool stream_in(struct perf_rdma *rdma, uint64_t iters)
{
    uint32_t length;

    if (rdma->params->op == PERF_SEND)
        for (uint64_t i = 0; i < iters; i++)
            if (!take_message(rdma, &length) || !grant_credit(rdma))
                return false;
    return take_message(rdma, &length) && post_send(rdma, 1, true) && reserve(rdma, 1);
}

static bool read_one_by_one(struct perf_rdma *rdma, uint64_t iters)
{
    for (uint64_t i = 0; i < iters; i++) {
        if (!post_read(rdma, true) || !reserve(rdma, 1))
            return false;
        perf_sampler_tick(&rdma->sampler);
    }
    return finish_stream(rdma);
}

/* ---- Both sides --------------------------------------------------------------------------- */

bool perf_rdma_client(struct perf_rdma *rdma, uint64_t iters)
{
    const struct perf_params *params = rdma->params;

    if (params->measure != PERF_LAT)
        return stream_out(rdma, iters);
    perf_sampler_start(&rdma->sampler);
    if (params->op == PERF_SEND)
        return send_ping_pong(rdma, iters, false);
    return params->op == PERF_WRITE ? write_ping_pong(rdma, iters, false)
                                    : read_one_by_one(rdma, iters);
}

bool perf_rdma_server(struct perf_rdma *rdma, uint64_t iters)
{
    const struct perf_params *params = rdma->params;

    if (params->measure == PERF_LAT && params->op == PERF_SEND)
        return send_ping_pong(rdma, iters, true);
    if (params->measure == PERF_LAT && params->op == PERF_WRITE)
        return write_ping_pong(rdma, iters, true);
    return stream_in(rdma, iters);
}
