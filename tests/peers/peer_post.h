/* SPDX-License-Identifier: BSD-2-Clause */
/* Posts requests to the queues of a connection. */
#ifndef PEERS_POST_H
#define PEERS_POST_H

#include "peer_args.h"
#include "peer_complete.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define PEER_SEGMENTS_MAX 32

/* A request of any kind. recv uses only the first three members. */
struct peer_post {
    uint64_t wr_id;
    struct ibv_sge segment[PEER_SEGMENTS_MAX];
    int segments;
    enum peer_request request;
    unsigned flags; /* IBV_SEND_ */
    uint64_t remote_address;
    uint32_t rkey;
    bool invalidate; /* the request is a Send that invalidates rkey */
};

/*
 * Parses the word M:OFFSET:LENGTH[,...]. reach is the number of octets by which offsets may grow
 * later beyond each segment.
 */
void peer_post_parse_segments(struct peer_args *args, const struct peer_connection *connection,
                              const char *text, uint64_t reach, struct peer_post *post);

/* Parses "to" of a write or "from" of a read, and rkey. */
void peer_post_parse_remote(struct peer_args *args, struct peer_post *post);

/* Posts the request. Returns false after an answer. */
bool peer_post(struct peer_connection *connection, const struct peer_post *post);

void peer_post_recv_command(struct peer_args *args);
void peer_post_send_command(struct peer_args *args);
void peer_post_write_command(struct peer_args *args);
void peer_post_read_command(struct peer_args *args);

#endif
