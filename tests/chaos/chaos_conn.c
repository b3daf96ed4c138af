/* SPDX-License-Identifier: BSD-2-Clause */
#include "chaos/chaos_conn.h"

#include "support/it_fixture.h"

#include <inttypes.h>
#include <string.h>

/* Bits of `pending` and of cookies. */
enum post {
    POST_RECEIVE = 0,
    POST_ACK = POST_RECEIVE + RECEIVES,
    POST_SEND = POST_ACK + ACKS,
    POST_WRITE = POST_SEND + ROUNDS,
    POST_READ = POST_WRITE + ROUNDS,
    POST_ADD = POST_READ + ROUNDS,
    POSTS = POST_ADD + ROUNDS
};

struct message {
    uint32_t magic;
    uint32_t is_ack;
    uint32_t round;
    uint32_t seed;
    uint32_t written; /* octets at the start of target[round] */
    uint32_t length;  /* of the octets after this header */
};

#define NO_RESULT UINT64_MAX /* no atomic operation returns it */
#define SIGNAL    ((it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG))

bool conn_may_end(const struct conn *conn)
{
    const struct chaos_hello *peer = &conn->peer;

    /* On devices a message may come before the event with the peer's hello. */
    return conn->ends || !conn->heard || !peer->magic ||
           chaos_is_harmed(conn->pair, conn->attempt) ||
           chaos->workers[peer->worker].incarnation != peer->incarnation;
}

void conn_begin(struct conn *conn, uint32_t pair, uint32_t attempt)
{
    struct conn_memory *memory = conn->memory;

    conn->pair = pair;
    conn->attempt = attempt;
    conn->generation++;
    conn->pending = 0;
    conn->due = 0;
    conn->ends = conn->ended = conn->heard = false;
    memset(conn->early, 0, sizeof(conn->early));
    conn->counted = 0;
    conn->rounds_done = 0;
    conn->rounds_planned = 1 + (unsigned)(chaos_number(2, pair, attempt) % 60);
    memset(conn->rounds, 0, sizeof(conn->rounds));
    memset(conn->unanswered, 0, sizeof(conn->unanswered));
    memset(&conn->peer, 0, sizeof(conn->peer));
    memset(memory, 0, sizeof(*memory));
    fx_fill(memory->source, LARGE, pair ^ attempt << 16);
    conn->progress_us = chaos_now_us();
}

struct chaos_hello conn_hello(const struct conn *conn, unsigned worker)
{
    struct chaos_hello hello = {
        .magic = CHAOS_MAGIC,
        .address = (uintptr_t)conn->memory,
        .key = conn->key,
        .seed = conn->pair ^ conn->attempt << 16,
        .pair = conn->pair,
        .attempt = conn->attempt,
        .worker = worker,
        .incarnation = atomic_load(&chaos->workers[worker].incarnation),
    };

    return hello;
}

void conn_meet(struct conn *conn, const struct chaos_hello *peer)
{
    conn->peer = *peer;
    fx_fill(conn->expected, LARGE, peer->seed);
}

/* ---- Posting --------------------------------------------------------------------------------- */

static it_dto_cookie_t cookie_of(const struct conn *conn, unsigned post)
{
    return (it_dto_cookie_t)conn->generation << 32 | (it_dto_cookie_t)conn->index << 16 | post;
}

static it_lmr_triplet_t segment_of(const struct conn *conn, void *from, size_t length)
{
    it_lmr_triplet_t segment = {.lmr = conn->lmr, .addr.abs = from, .length = length};

    return segment;
}

static it_rdma_addr_t remote(const struct conn *conn, size_t offset)
{
    return it_make_rdma_addr_absolute((void *)(uintptr_t)(conn->peer.address + offset));
}

static bool posted(struct conn *conn, unsigned post, it_status_t status)
{
    if (status != IT_SUCCESS) {
        chaos_fail("post %u: %s", post, itx_status_string(status));
        return false;
    }
    if (conn->pending >> post & 1)
        chaos_fail("post %u while it is pending", post);
    conn->pending |= 1ull << post;
    conn->due++;
    return true;
}

static void post_receive(struct conn *conn, unsigned i)
{
    it_lmr_triplet_t segment = segment_of(conn, conn->memory->received[i], MESSAGE);

    (void)posted(conn, POST_RECEIVE + i,
                 it_post_recv(conn->ep, &segment, 1, cookie_of(conn, POST_RECEIVE + i), SIGNAL));
}

void conn_post_receives(struct conn *conn)
{
    for (unsigned i = 0; i < RECEIVES; i++)
        post_receive(conn, i);
}

static bool post_send(struct conn *conn, unsigned post, void *from, size_t length)
{
    it_lmr_triplet_t segment = segment_of(conn, from, length);

    chaos_count(COUNT_SENDS, 1);
    return posted(conn, post, it_post_send(conn->ep, &segment, 1, cookie_of(conn, post), SIGNAL));
}

/* Answers the peer's round, or later, when an answer before it has been sent. */
static void post_ack(struct conn *conn, uint32_t round, uint32_t seed)
{
    unsigned i = 0;
    struct message *ack;

    while (i < ACKS && conn->pending >> (POST_ACK + i) & 1)
        i++;
    conn->unanswered[round] = i < ACKS ? 0 : seed;
    if (i == ACKS)
        return;
    ack = (struct message *)(void *)conn->memory->ack[i];
    *ack =
        (struct message){.magic = (uint32_t)CHAOS_MAGIC, .is_ack = 1, .round = round, .seed = seed};
    (void)post_send(conn, POST_ACK + i, ack, sizeof(*ack));
}

static void post_late_ack(struct conn *conn)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (conn->unanswered[i] != 0) {
            post_ack(conn, i, conn->unanswered[i]);
            return;
        }
    }
}

static void post_write(struct conn *conn, unsigned i, uint32_t length)
{
    struct round *round = &conn->rounds[i];
    it_lmr_triplet_t segment = segment_of(conn, conn->memory->written[i], length);

    fx_fill(segment.addr.abs, length, round->seed + 1);
    chaos_count(COUNT_WRITES, 1);
    if (posted(conn, POST_WRITE + i,
               it_post_rdma_write(conn->ep, &segment, 1, cookie_of(conn, POST_WRITE + i), SIGNAL,
                                  remote(conn, offsetof(struct conn_memory, target[i])),
                                  conn->peer.key)))
        round->parts++;
}

static void post_read(struct conn *conn, unsigned i, uint64_t number)
{
    struct round *round = &conn->rounds[i];
    it_lmr_triplet_t segment;

    round->read_length = 1 + (uint32_t)(number % LARGE);
    round->read_offset = (uint32_t)((number >> 16) % (LARGE - round->read_length + 1));
    segment = segment_of(conn, conn->memory->read[i], round->read_length);
    memset(segment.addr.abs, 0, round->read_length);
    chaos_count(COUNT_READS, 1);
    if (posted(conn, POST_READ + i,
               it_post_rdma_read(
                   conn->ep, &segment, 1, cookie_of(conn, POST_READ + i), SIGNAL,
                   remote(conn, offsetof(struct conn_memory, source) + round->read_offset),
                   conn->peer.key)))
        round->parts++;
}

static void post_add(struct conn *conn, unsigned i)
{
    it_lmr_triplet_t segment = segment_of(conn, &conn->memory->before[i], 8);

    conn->memory->before[i] = NO_RESULT;
    chaos_count(COUNT_ATOMICS, 1);
    if (posted(conn, POST_ADD + i,
               it_post_atomic(conn->ep, IT_FETCH_AND_ADD, 3, 0, &segment,
                              cookie_of(conn, POST_ADD + i), SIGNAL,
                              remote(conn, offsetof(struct conn_memory, word)), conn->peer.key)))
        conn->rounds[i].parts++;
}

/* A Write, a message that tells of it, a Read and an atomic operation: some of them, by chance. */
static void start_round(struct conn *conn, unsigned i)
{
    struct round *round = &conn->rounds[i];
    uint64_t number = chaos_number(3 + conn->rounds_done, conn->pair, conn->attempt);
    struct message *message = (struct message *)(void *)conn->memory->message[i];
    uint32_t written = number & 1 ? 1 + (uint32_t)(number >> 8 & (LARGE - 1)) : 0;

    *round = (struct round){.active = true, .seed = (uint32_t)number | 1};
    *message = (struct message){
        .magic = (uint32_t)CHAOS_MAGIC,
        .round = i,
        .seed = round->seed,
        .written = written,
        .length = (uint32_t)((number >> 24) % (MESSAGE - sizeof(*message))),
    };
    fx_fill(message + 1, message->length, round->seed);
    if (written)
        post_write(conn, i, written);
    if (post_send(conn, POST_SEND + i, message, sizeof(*message) + message->length))
        round->parts++;
    if (number & 2)
        post_read(conn, i, number >> 32);
    if ((number & 12) == 12 && conn->has_atomics &&
        !(conn->pending >> POST_ADD & 3)) /* their order is known */
        post_add(conn, i);
}

void conn_start_rounds(struct conn *conn)
{
    for (unsigned i = 0; i < ROUNDS && conn->state == CONN_UP; i++) {
        if (!conn->rounds[i].active)
            start_round(conn, i);
    }
}

/* ---- Completions ----------------------------------------------------------------------------- */

static void end_part(struct conn *conn, unsigned i)
{
    struct round *round = &conn->rounds[i];

    if (round->parts > 0 || !round->acked)
        return;
    *round = (struct round){.active = false};
    conn->rounds_done++;
    conn->next_us =
        chaos_now_us() + chaos_number(1000 + conn->rounds_done, conn->pair, conn->attempt) % 100000;
}

static void check_message(struct conn *conn, const struct message *message, uint32_t length)
{
    if (length < sizeof(*message) || message->magic != (uint32_t)CHAOS_MAGIC ||
        message->round >= ROUNDS || message->length + sizeof(*message) != length ||
        message->written > LARGE) {
        chaos_fail("pair %u, attempt %u: a message with a wrong header", conn->pair, conn->attempt);
        return;
    }
    if (message->is_ack) {
        struct round *round = &conn->rounds[message->round];

        if (!round->active || round->acked || round->seed != message->seed)
            chaos_fail("pair %u, attempt %u: an answer that nothing asked for", conn->pair,
                       conn->attempt);
        round->acked = true;
        end_part(conn, message->round);
        return;
    }
    if (!fx_is_filled(message + 1, message->length, message->seed))
        chaos_fail("pair %u, attempt %u: wrong octets in a message", conn->pair, conn->attempt);
    if (!fx_is_filled(conn->memory->target[message->round], message->written, message->seed + 1))
        chaos_fail("pair %u, attempt %u: wrong octets of a Write", conn->pair, conn->attempt);
    chaos_count(COUNT_OCTETS, message->length + message->written);
    post_ack(conn, message->round, message->seed);
}

/*
 * README.md tells why rxe may leave out a result, or a part of it, before it ends the connection. A
 * read octet is then the peer's or still 0.
 */
static bool is_left_out(const struct conn *conn, unsigned i)
{
    const unsigned char *right = conn->expected + conn->rounds[i].read_offset;
    const unsigned char *read = conn->memory->read[i];

    for (uint32_t at = 0; at < conn->rounds[i].read_length; at++) {
        if (read[at] != right[at] && read[at] != 0)
            return false;
    }
    return chaos->on_rxe;
}

static void leave_out(const struct conn *conn)
{
    chaos_count(COUNT_NO_RESULT, 1);
    chaos_harm(conn->pair, conn->attempt);
}

static void check_read(struct conn *conn, unsigned i)
{
    const struct round *round = &conn->rounds[i];
    bool right =
        memcmp(conn->memory->read[i], conn->expected + round->read_offset, round->read_length) == 0;

    if (!right && is_left_out(conn, i))
        leave_out(conn);
    else if (!right)
        chaos_fail("pair %u, attempt %u: wrong octets of a Read", conn->pair, conn->attempt);
    chaos_count(COUNT_OCTETS, round->read_length);
}

static void check_add(struct conn *conn, unsigned i)
{
    if (conn->memory->before[i] == NO_RESULT && chaos->on_rxe)
        leave_out(conn);
    else if (conn->memory->before[i] != conn->counted)
        chaos_fail("pair %u, attempt %u: an atomic operation returns %" PRIu64
                   " instead of %" PRIu64,
                   conn->pair, conn->attempt, conn->memory->before[i], conn->counted);
    conn->counted += 3;
}

static void take_message(struct conn *conn, unsigned post, uint32_t length)
{
    check_message(conn, (struct message *)(void *)conn->memory->received[post], length);
    post_receive(conn, post);
}

/* They come in the order in which their receives were posted. */
void conn_is_up(struct conn *conn)
{
    for (unsigned i = 0; i < RECEIVES; i++) {
        if (conn->early[i] > 0)
            take_message(conn, POST_RECEIVE + i, conn->early[i]);
        conn->early[i] = 0;
    }
}

static void check_success(struct conn *conn, unsigned post, uint32_t length)
{
    if (post < POST_ACK) {
        conn->heard = true;
        if (conn->state == CONN_CONNECTING)
            conn->early[post] = length;
        else
            take_message(conn, post, length);
    } else if (post < POST_SEND) {
        post_late_ack(conn);
    } else {
        unsigned i = (post - POST_SEND) % ROUNDS;

        if (post >= POST_ADD)
            check_add(conn, i);
        else if (post >= POST_READ)
            check_read(conn, i);
        conn->rounds[i].parts--;
        end_part(conn, i);
    }
}

void conn_completed(struct conn *conn, const it_dto_cmpl_event_t *event)
{
    unsigned post = event->cookie & 0xffff;

    if (event->cookie >> 32 != conn->generation || post >= POSTS || !(conn->pending >> post & 1)) {
        chaos_fail("a completion that no post waits for: %#" PRIx64, (uint64_t)event->cookie);
        return;
    }
    conn->pending &= ~(1ull << post);
    conn->due--;
    conn->progress_us = chaos_now_us();
    if (event->dto_status == IT_DTO_SUCCESS) {
        check_success(conn, post, event->transferred_length);
        return;
    }
    chaos_count(COUNT_FLUSHED, 1);
    if (!conn_may_end(conn))
        chaos_fail("pair %u, attempt %u: post %u fails: %s", conn->pair, conn->attempt, post,
                   itx_dto_status_string(event->dto_status));
}
