/* SPDX-License-Identifier: BSD-2-Clause */
/* chaos_conn.h - one endpoint of a worker, and the traffic on its connection. */
#ifndef ITAPI_TESTS_CHAOS_CHAOS_CONN_H
#define ITAPI_TESTS_CHAOS_CHAOS_CONN_H

#include "chaos/chaos.h"
#include "itx_api.h"

#define ROUNDS   2u /* of one side at a time */
#define RECEIVES 8u
#define ACKS     8u /* answers under way; a device may tell late that one was sent */
#define MESSAGE  4096u
#define LARGE    16384u

/* The memory of a connection. The peer writes target[i] in its round i and reads source. */
struct conn_memory {
    unsigned char received[RECEIVES][MESSAGE];
    unsigned char message[ROUNDS][MESSAGE];
    unsigned char ack[ACKS][64];
    unsigned char target[ROUNDS][LARGE];
    unsigned char written[ROUNDS][LARGE];
    unsigned char source[LARGE];
    unsigned char read[ROUNDS][LARGE];
    uint64_t word, before[ROUNDS];
};

enum conn_state {
    CONN_IDLE,
    CONN_CONNECTING,
    CONN_UP,
    CONN_OVER, /* waits for its last events */
    CONN_RENEW /* the endpoint can be reset or freed */
};

struct round {
    bool active, acked;
    unsigned parts; /* requests that have not completed */
    uint32_t seed;
    uint32_t read_offset, read_length;
};

struct conn {
    it_ep_handle_t ep;
    enum conn_state state;
    struct conn_memory *memory;
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
    uint16_t index;
    uint16_t generation;
    uint32_t pair, attempt;
    struct chaos_hello peer;
    uint64_t pending; /* a bit for each post */
    unsigned due;
    struct round rounds[ROUNDS];
    uint32_t unanswered[ROUNDS]; /* seeds of the peer's rounds whose answer has to wait; 0: none */
    unsigned rounds_done, rounds_planned;
    uint64_t counted;
    unsigned char *expected; /* the peer's source */
    uint64_t progress_us, next_us;
    bool ends;                /* its own program ends the connection */
    bool ended;               /* the last connection event has come */
    bool heard;               /* a message of the peer has come: it is connected, too */
    uint32_t early[RECEIVES]; /* lengths of messages that came before the connection was up; or 0 */
    bool fresh;               /* needs a new endpoint */
    bool has_atomics;
};

/* Everything for a new connection but the receives. */
void conn_begin(struct conn *conn, uint32_t pair, uint32_t attempt);
void conn_post_receives(struct conn *conn);
/* The peer's hello has come: traffic may begin. */
void conn_meet(struct conn *conn, const struct chaos_hello *peer);
struct chaos_hello conn_hello(const struct conn *conn, unsigned worker);
void conn_start_rounds(struct conn *conn);
/* The connection is up: answers the messages that came before that, as they may on devices. */
void conn_is_up(struct conn *conn);
void conn_completed(struct conn *conn, const it_dto_cmpl_event_t *event);
/* Whether the connection may end without the fault of the library. */
bool conn_may_end(const struct conn *conn);

#endif
