/* SPDX-License-Identifier: BSD-2-Clause */
#include "counted/counted_pattern.h"

#include "counted/counted_schedule.h"

#include <string.h>

void counted_open(struct counted_bed *bed, const struct counted_pattern *pattern)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct itx_mpa_params mpa;
    size_t size = (size_t)pattern->octets * pattern->window;

    memset(bed, 0, sizeof(*bed));
    bed->pattern = pattern;
    attr.max_request_dtos = COUNTED_DEPTH;
    attr.max_recv_dtos = COUNTED_DEPTH;
    attr.max_send_segments = 1;
    attr.max_recv_segments = 1;
    fx_node_open(&bed->pair.a);
    fx_node_open(&bed->pair.b);
    bed->pair.a_ep = fx_ep(&bed->pair.a, &attr);
    bed->pair.b_ep = fx_ep(&bed->pair.b, &attr);
    mpa = fx_mpa(bed->pair.a_ep);
    mpa.crc = pattern->crc ? IT_TRUE : IT_FALSE;
    CHECK_OK(itx_ep_set_mpa_params(bed->pair.a_ep, &mpa));
    CHECK_OK(itx_ep_set_mpa_params(bed->pair.b_ep, &mpa));
    fx_join(&bed->pair.a, bed->pair.a_ep, &bed->pair.b, bed->pair.b_ep);
    if (pattern->operation == COUNTED_SLEEPING) {
        CHECK_OK(itx_ia_set_spin(bed->pair.a.ia, 0));
        CHECK_OK(itx_ia_set_spin(bed->pair.b.ia, 0));
    }
    bed->a = fx_buf_make(&bed->pair.a, size);
    bed->b = fx_buf_make(&bed->pair.b, size);
    fx_fill(bed->a.data, size, 1);
    fx_pair_ping(&bed->pair);
}

void counted_close(struct counted_bed *bed)
{
    fx_buf_free(&bed->a);
    fx_buf_free(&bed->b);
    fx_pair_close(&bed->pair);
}

/* ---------------------------------------------------------------- ping-pong */

static void take_polling(it_evd_handle_t evd, it_event_t *event)
{
    it_status_t status;

    do {
        status = it_evd_dequeue(evd, event);
    } while (status == IT_ERR_QUEUE_EMPTY);
    CHECK_OK(status);
}

static bool is_waiting(const struct counted_bed *bed)
{
    return bed->pattern->operation == COUNTED_WAITING ||
           bed->pattern->operation == COUNTED_SLEEPING;
}

static void take(const struct counted_bed *bed, it_evd_handle_t evd, it_event_type_t number)
{
    it_event_t event;

    if (is_waiting(bed))
        CHECK_OK(it_evd_wait(evd, IT_TIMEOUT_INFINITE, &event, NULL));
    else
        take_polling(evd, &event);
    CHECK_EQ(number, event.event_number);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
}

static it_dto_flags_t flags_of(const struct counted_bed *bed)
{
    return is_waiting(bed) ? FX_SIGNAL : IT_COMPLETION_FLAG;
}

static void ping(const struct counted_bed *bed, bool from_a)
{
    const struct fx_pair *pair = &bed->pair;
    const struct fx_node *from = from_a ? &pair->a : &pair->b;
    const struct fx_node *to = from_a ? &pair->b : &pair->a;
    it_lmr_triplet_t source = fx_seg(from_a ? &bed->a : &bed->b, 0, bed->pattern->octets);
    it_lmr_triplet_t sink = fx_seg(from_a ? &bed->b : &bed->a, 0, bed->pattern->octets);

    CHECK_OK(it_post_recv(from_a ? pair->b_ep : pair->a_ep, &sink, 1, 1, flags_of(bed)));
    CHECK_OK(it_post_send(from_a ? pair->a_ep : pair->b_ep, &source, 1, 2, flags_of(bed)));
    take(bed, from->request_evd, IT_DTO_SEND_CMPL_EVENT);
    take(bed, to->recv_evd, IT_DTO_RC_RECV_CMPL_EVENT);
}

/* ---------------------------------------------------------------- streams */

struct stream {
    struct counted_bed *bed;
    unsigned messages;
    unsigned posted;
    unsigned completed;
    unsigned receives; /* posted */
    unsigned received;
};

static unsigned stream_take(it_evd_handle_t evd, it_event_type_t number)
{
    it_event_t events[COUNTED_DEPTH];
    size_t count = 0;
    it_status_t status = itx_evd_dequeue_n(evd, COUNTED_DEPTH, events, &count);

    if (status == IT_ERR_QUEUE_EMPTY)
        return 0;
    CHECK_OK(status);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(number, events[i].event_number);
        CHECK_EQ(IT_DTO_SUCCESS, events[i].dto_cmpl.dto_status);
    }
    return (unsigned)count;
}

static void stream_post_one(struct stream *stream, it_dto_flags_t flags)
{
    const struct counted_bed *bed = stream->bed;
    uint32_t octets = bed->pattern->octets;
    size_t place = (size_t)(stream->posted % bed->pattern->window) * octets;
    it_lmr_triplet_t segment = fx_seg(&bed->a, place, octets);
    it_rdma_addr_t remote = fx_addr(&bed->b, place);
    it_ep_handle_t ep = bed->pair.a_ep;

    if (bed->pattern->operation == COUNTED_SEND)
        CHECK_OK(it_post_send(ep, &segment, 1, stream->posted, flags));
    else if (bed->pattern->operation == COUNTED_READ)
        CHECK_OK(it_post_rdma_read(ep, &segment, 1, stream->posted, flags, remote, bed->b.key));
    else
        CHECK_OK(it_post_rdma_write(ep, &segment, 1, stream->posted, flags, remote, bed->b.key));
    stream->posted++;
}

static unsigned stream_room(const struct stream *stream)
{
    unsigned room = stream->bed->pattern->window - (stream->posted - stream->completed);

    /* There must be a receive for each Send. */
    if (stream->bed->pattern->operation == COUNTED_SEND && room > stream->receives - stream->posted)
        room = stream->receives - stream->posted;
    return room < stream->messages - stream->posted ? room : stream->messages - stream->posted;
}

static void stream_post_receives(struct stream *stream)
{
    const struct counted_bed *bed = stream->bed;
    uint32_t octets = bed->pattern->octets;

    while (stream->receives < stream->messages &&
           stream->receives - stream->received < bed->pattern->window) {
        size_t place = (size_t)(stream->receives % bed->pattern->window) * octets;
        it_lmr_triplet_t segment = fx_seg(&bed->b, place, octets);

        CHECK_OK(it_post_recv(bed->pair.b_ep, &segment, 1, stream->receives, IT_COMPLETION_FLAG));
        stream->receives++;
    }
}

static void stream_post(struct stream *stream)
{
    enum counted_pace pace = stream->bed->pattern->pace;

    for (unsigned room = stream_room(stream); room > 0; room--) {
        bool more = pace == COUNTED_COALESCED && room > 1;

        if (pace != COUNTED_FAST && !more)
            counted_pause();
        stream_post_one(stream, more ? (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_COALESCE_WR_FLAG)
                                     : IT_COMPLETION_FLAG);
    }
}

static it_event_type_t stream_event(enum counted_operation operation)
{
    if (operation == COUNTED_SEND)
        return IT_DTO_SEND_CMPL_EVENT;
    return operation == COUNTED_READ ? IT_DTO_RDMA_READ_CMPL_EVENT : IT_DTO_RDMA_WRITE_CMPL_EVENT;
}

/* Large messages could fill both sockets. Then only TCP's timers would let them continue. */
static bool stream_is_under_way(const struct counted_bed *bed)
{
    return bed->pattern->octets >= 4096 &&
           fx_counters(&bed->pair.b).bytes_received < fx_counters(&bed->pair.a).bytes_sent;
}

/* Runs the traffic. The target polls too, which places what has arrived and answers Reads. */
static void stream_run(struct counted_bed *bed, unsigned messages)
{
    struct stream stream = {.bed = bed, .messages = messages};
    enum counted_operation operation = bed->pattern->operation;
    bool sends = operation == COUNTED_SEND;

    while (stream.completed < messages || (sends && stream.received < messages)) {
        if (sends)
            stream_post_receives(&stream);
        stream_post(&stream);
        stream.completed += stream_take(bed->pair.a.request_evd, stream_event(operation));
        do {
            stream.received += stream_take(bed->pair.b.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT);
        } while (stream_is_under_way(bed));
    }
}

/* Returns when all octets are in place: a later Send has arrived. */
static void stream_settle(struct counted_bed *bed)
{
    unsigned completed = 0;
    unsigned received = 0;

    CHECK_OK(it_post_send(bed->pair.a_ep, NULL, 0, 0, IT_COMPLETION_FLAG));
    while (completed == 0 || received == 0) {
        completed += stream_take(bed->pair.a.request_evd, IT_DTO_SEND_CMPL_EVENT);
        received += stream_take(bed->pair.b.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT);
    }
}

static void counted_traffic(struct counted_bed *bed, unsigned messages)
{
    if (bed->pattern->operation <= COUNTED_SLEEPING) {
        for (unsigned i = 0; i < messages; i++)
            ping(bed, i % 2 == 0);
        return;
    }
    if (bed->pattern->operation == COUNTED_WRITE)
        CHECK_OK(it_post_recv(bed->pair.b_ep, NULL, 0, 0, IT_COMPLETION_FLAG));
    stream_run(bed, messages);
    if (bed->pattern->operation == COUNTED_WRITE)
        stream_settle(bed);
}

void counted_warm_up(struct counted_bed *bed, unsigned messages)
{
    counted_traffic(bed, messages);
}

void counted_run(struct counted_bed *bed, unsigned messages)
{
    counted_traffic(bed, messages);
}

void counted_settle(struct counted_bed *bed)
{
    counted_hold(2);
    counted_traffic(bed, 2); /* one from each side */
}
