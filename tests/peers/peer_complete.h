/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions. A request's wr_id tells its kind and its command, so that a completion that comes
 * while another command waits is kept for its own command.
 */
#ifndef PEERS_COMPLETE_H
#define PEERS_COMPLETE_H

#include "peer_args.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct peer_connection;

#define PEER_ID_MAX ((UINT64_C(1) << 48) - 1)

enum peer_request {
    PEER_RECV,
    PEER_SEND,
    PEER_WRITE,
    PEER_READ,
};

/* The owner of a completion. */
enum peer_complete_owner {
    PEER_OF_DONE,   /* requests of recv, send, write, read: for `done` */
    PEER_OF_STREAM, /* requests of burst, echo, sink */
    PEER_OWNERS
};

struct peer_complete_queue {
    struct ibv_wc *entry; /* a ring */
    unsigned room;
    unsigned first;
    unsigned count;
};

/* The part of a connection that concerns completions. */
struct peer_complete {
    struct peer_complete_queue kept[PEER_OWNERS];
    bool armed;        /* the next completion makes the channel readable */
    unsigned receives; /* receives posted by recv that have not completed */
    unsigned stream;   /* number of the present stream; completions of earlier ones are dropped */
};

uint64_t peer_complete_id(const struct peer_connection *connection, enum peer_request request,
                          enum peer_complete_owner owner, uint64_t id);
enum peer_request peer_complete_request(const struct ibv_wc *completion);
uint64_t peer_complete_number(const struct ibv_wc *completion);

/* Begins a new stream. */
void peer_complete_begin_stream(struct peer_complete *complete);

/*
 * Takes the next completion of the stream. Returns false if an error was answered, such as a
 * timeout.
 */
bool peer_complete_next(struct peer_connection *connection, int64_t deadline,
                        struct ibv_wc *completion);

/* Appends ID:STATUS:OPCODE:BYTES to the answer. */
void peer_complete_answer(const struct ibv_wc *completion);

void peer_complete_free(struct peer_complete *complete);

void peer_complete_done_command(struct peer_args *args);

#endif
