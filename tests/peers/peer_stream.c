/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_stream.h"

#include "peer_answer.h"
#include "peer_clock.h"
#include "peer_connection.h"
#include "peer_memory.h"
#include "peer_pattern.h"
#include "peer_post.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX  UINT64_C(1000000000)
#define LENGTH_MAX UINT64_C(0x7fffffff)

/* ---- burst ---------------------------------------------------------------------------------- */

struct peer_burst {
    uint64_t count;
    uint64_t step;
    uint64_t depth;
    uint64_t id;
    struct peer_post post; /* the next request */
};

static void peer_burst_parse(struct peer_args *args, const struct peer_connection *connection,
                             struct peer_burst *burst)
{
    static const char *const names[] = {
        [PEER_SEND] = "send", [PEER_WRITE] = "write", [PEER_READ] = "read"};
    const char *op = args->position[1];
    uint64_t reach;

    memset(burst, 0, sizeof(*burst));
    burst->count = peer_args_number(args, 2, 1, COUNT_MAX);
    burst->step = peer_args_option(args, "step", 0, 0, LENGTH_MAX);
    burst->depth =
        peer_args_option(args, "depth", 1, 1, connection != NULL ? connection->cap.max_send_wr : 1);
    burst->id = peer_args_option(args, "id", 0, 0, PEER_ID_MAX - COUNT_MAX);
    reach = (burst->count - 1) * burst->step;
    peer_post_parse_segments(args, connection, args->position[3], reach, &burst->post);
    burst->post.flags = IBV_SEND_SIGNALED;
    for (unsigned request = PEER_SEND; request <= PEER_READ; request++) {
        if (strcmp(op, names[request]) == 0)
            burst->post.request = (enum peer_request)request;
    }
    if (burst->post.request == PEER_READ && burst->post.segments == 0)
        peer_args_refuse(args, "a read has a segment, be it of length 0");
    if (burst->post.request == PEER_RECV)
        peer_args_refuse(args, "%.40s: not send, write or read", op);
    if (peer_args_flag(args, "to") != (burst->post.request == PEER_WRITE) ||
        peer_args_flag(args, "from") != (burst->post.request == PEER_READ) ||
        peer_args_flag(args, "rkey") != (burst->post.request != PEER_SEND))
        peer_args_refuse(args, "a write has to and rkey, a read from and rkey, a send neither");
    peer_post_parse_remote(args, &burst->post);
}

static bool peer_burst_post(struct peer_connection *connection, struct peer_burst *burst,
                            uint64_t i)
{
    struct peer_post *post = &burst->post;

    post->wr_id = peer_complete_id(connection, post->request, PEER_OF_STREAM, burst->id + i);
    if (!peer_post(connection, post))
        return false;
    for (int s = 0; s < post->segments; s++)
        post->segment[s].addr += burst->step;
    post->remote_address += burst->step;
    return true;
}

/*
 * burst C OP COUNT SEGMENTS step=N id=N depth=N timeout=MS [to=ADDRESS|from=ADDRESS] [rkey=RKEY]
 */
void peer_stream_burst_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_with_qp(args, 0);
    int64_t deadline = peer_args_deadline(args);
    struct peer_burst burst;
    struct ibv_wc completion;
    uint64_t posted = 0;

    peer_burst_parse(args, connection, &burst);
    if (connection != NULL && connection->stream.prepared)
        peer_args_refuse(args, "connection %u is prepared", connection->number);
    if (peer_args_refused(args))
        return;
    peer_complete_begin_stream(&connection->complete);
    for (uint64_t complete = 0; complete < burst.count; complete++) {
        while (posted < burst.count && posted - complete < burst.depth) {
            if (!peer_burst_post(connection, &burst, posted))
                return;
            posted++;
        }
        if (!peer_complete_next(connection, deadline, &completion))
            return;
    }
    peer_answer("ok n=%" PRIu64, burst.count);
}

/* ---- The receives of echo and sink ---------------------------------------------------------- */

static uint64_t peer_stream_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Parses the words from i on: COUNT M LENGTH. */
static void peer_stream_parse(struct peer_args *args, unsigned i, bool echo,
                              const struct peer_connection *connection, struct peer_stream *stream)
{
    memset(stream, 0, sizeof(*stream));
    stream->echo = echo;
    stream->count = peer_args_number(args, i, 1, COUNT_MAX);
    stream->memory = peer_memory_named(args, args->position[i + 1]);
    stream->length = peer_args_number(args, i + 2, 1, LENGTH_MAX);
    if (connection == NULL || stream->memory == NULL)
        return;
    peer_memory_check_device(args, stream->memory, connection->device);
    stream->serial = stream->memory->serial;
    stream->slots = stream->memory->size / stream->length / (echo ? 2 : 1);
    stream->slots = peer_stream_min(stream->slots, connection->cap.max_recv_wr);
    if (stream->slots == 0)
        peer_args_refuse(args, "memory %u is smaller than %d slots of %" PRIu64,
                         stream->memory->number, echo ? 2 : 1, stream->length);
    if (connection->complete.receives != 0)
        peer_args_refuse(args, "receives are posted");
}

static struct ibv_sge peer_stream_slot(const struct peer_stream *stream, uint64_t slot)
{
    struct ibv_sge segment = {
        .addr = (uintptr_t)stream->memory->octets + slot * stream->length,
        .length = (uint32_t)stream->length,
        .lkey = stream->memory->mr->lkey,
    };

    return segment;
}

/* Posts the next receive, unless COUNT were posted. Returns false after an answer. */
static bool peer_stream_receive(struct peer_connection *connection)
{
    struct peer_stream *stream = &connection->stream;
    struct peer_post post;

    if (stream->posted == stream->count)
        return true;
    memset(&post, 0, sizeof(post));
    post.request = PEER_RECV;
    post.wr_id = peer_complete_id(connection, PEER_RECV, PEER_OF_STREAM, stream->posted);
    post.segment[0] = peer_stream_slot(stream, stream->posted % stream->slots);
    post.segments = 1;
    if (!peer_post(connection, &post))
        return false;
    stream->posted++;
    return true;
}

static bool peer_stream_prepare(struct peer_connection *connection,
                                const struct peer_stream *stream)
{
    connection->stream = *stream;
    peer_complete_begin_stream(&connection->complete);
    for (uint64_t i = 0; i < stream->slots; i++) {
        if (!peer_stream_receive(connection))
            return false;
    }
    return true;
}

static void peer_stream_check_prepared(struct peer_args *args,
                                       const struct peer_connection *connection,
                                       const struct peer_stream *stream)
{
    const struct peer_stream *prepared;

    if (connection == NULL || !connection->stream.prepared)
        return;
    prepared = &connection->stream;
    if (stream == NULL || prepared->echo != stream->echo || prepared->count != stream->count ||
        prepared->length != stream->length || prepared->serial != stream->serial)
        peer_args_refuse(args, "connection %u is prepared for something else", connection->number);
}

/* Begins echo and sink: C COUNT M LENGTH. Returns NULL after an answer. */
static struct peer_connection *peer_stream_begin(struct peer_args *args, bool echo)
{
    struct peer_connection *connection = peer_connection_with_qp(args, 0);
    struct peer_stream stream;

    peer_stream_parse(args, 1, echo, connection, &stream);
    peer_stream_check_prepared(args, connection, &stream);
    if (peer_args_refused(args))
        return NULL;
    if (!connection->stream.prepared && !peer_stream_prepare(connection, &stream))
        return NULL;
    connection->stream.prepared = false;
    return connection;
}

/* prepare C echo|sink COUNT M LENGTH */
void peer_stream_prepare_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_with_qp(args, 0);
    bool echo = strcmp(args->position[1], "echo") == 0;
    struct peer_stream stream;

    if (!echo && strcmp(args->position[1], "sink") != 0)
        peer_args_refuse(args, "%.40s: not echo or sink", args->position[1]);
    peer_stream_parse(args, 2, echo, connection, &stream);
    peer_stream_check_prepared(args, connection, NULL);
    if (peer_args_refused(args) || !peer_stream_prepare(connection, &stream))
        return;
    connection->stream.prepared = true;
    peer_answer("ok n=%" PRIu64, connection->stream.posted);
}

/* ---- echo, sink ----------------------------------------------------------------------------- */

/* Sends message k, which has len octets, back from the second half of the memory. */
static bool peer_echo_send(struct peer_connection *connection, uint64_t k, uint32_t len)
{
    struct peer_stream *stream = &connection->stream;
    uint64_t slot = k % stream->slots;
    uint8_t *received = stream->memory->octets + slot * stream->length;
    uint8_t *sent = received + stream->slots * stream->length;
    struct peer_post post;

    memset(&post, 0, sizeof(post));
    memcpy(sent, received, len);
    /* Post before the message goes back: the side that gets it may then send the next one. */
    if (!peer_stream_receive(connection))
        return false;
    post.request = PEER_SEND;
    post.flags = IBV_SEND_SIGNALED;
    post.wr_id = peer_complete_id(connection, PEER_SEND, PEER_OF_STREAM, k);
    post.segment[0] = peer_stream_slot(stream, stream->slots + slot);
    post.segment[0].length = len;
    post.segments = len > 0 ? 1 : 0;
    return peer_post(connection, &post);
}

/* Echoes all messages. lengths has one entry for each slot. Returns false after an answer. */
static bool peer_echo_run(struct peer_connection *connection, uint32_t *lengths, int64_t deadline)
{
    const struct peer_stream *stream = &connection->stream;
    uint64_t window = peer_stream_min(stream->slots, connection->cap.max_send_wr);
    uint64_t received = 0;
    uint64_t sent = 0;
    uint64_t complete = 0;

    while (complete < stream->count) {
        struct ibv_wc completion;

        if (!peer_complete_next(connection, deadline, &completion))
            return false;
        if (peer_complete_request(&completion) == PEER_RECV)
            lengths[received++ % stream->slots] = completion.byte_len;
        else
            complete++;
        for (; sent < received && sent - complete < window; sent++) {
            if (!peer_echo_send(connection, sent, lengths[sent % stream->slots]))
                return false;
        }
    }
    return true;
}

/* echo C COUNT M LENGTH timeout=MS */
void peer_stream_echo_command(struct peer_args *args)
{
    int64_t deadline = peer_args_deadline(args);
    struct peer_connection *connection = peer_stream_begin(args, true);
    uint32_t *lengths;

    if (connection == NULL)
        return;
    lengths = calloc(connection->stream.slots, sizeof(*lengths));
    if (lengths == NULL)
        peer_die("no memory");
    if (peer_echo_run(connection, lengths, deadline))
        peer_answer("ok n=%" PRIu64, connection->stream.count);
    free(lengths);
}

/* Checks message k. Returns false after an answer. */
static bool peer_sink_check(const struct peer_stream *stream, uint64_t k, uint32_t len,
                            uint64_t seed)
{
    const uint8_t *octets = stream->memory->octets + k % stream->slots * stream->length;
    uint8_t want = 0;
    size_t right = peer_pattern_match(octets, len, 0, seed + k, &want);

    if (right < len)
        peer_answer("error differs message=%" PRIu64 " at=%zu want=0x%02x got=0x%02x", k, right,
                    want, octets[right]);
    return right == len;
}

/* sink C COUNT M LENGTH timeout=MS [seed=N] */
void peer_stream_sink_command(struct peer_args *args)
{
    int64_t deadline = peer_args_deadline(args);
    bool check = peer_args_flag(args, "seed");
    uint64_t seed = peer_args_option(args, "seed", 0, 0, UINT64_MAX);
    struct peer_connection *connection = peer_stream_begin(args, false);
    uint64_t octets = 0;

    if (connection == NULL)
        return;
    for (uint64_t k = 0; k < connection->stream.count; k++) {
        struct ibv_wc completion;

        if (!peer_complete_next(connection, deadline, &completion) ||
            (check && !peer_sink_check(&connection->stream, k, completion.byte_len, seed)) ||
            !peer_stream_receive(connection))
            return;
        octets += completion.byte_len;
    }
    peer_answer("ok n=%" PRIu64 " bytes=%" PRIu64, connection->stream.count, octets);
}
