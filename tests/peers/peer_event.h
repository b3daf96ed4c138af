/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of rdma_cm. All ids share one event channel; every event is taken from it, acknowledged
 * and put into the queue of the id it belongs to, where it stays until somebody asks for it.
 */
#ifndef PEERS_EVENT_H
#define PEERS_EVENT_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

struct peer_event_queue;

struct peer_event {
    struct peer_event *next;
    enum rdma_cm_event_type type;
    int status;
    uint8_t ird; /* responder_resources */
    uint8_t ord; /* initiator_depth */
    uint8_t private_data[UINT8_MAX];
    uint8_t private_data_len;
    /* Of a connection request: the new id and its queue, unless somebody has taken them. */
    struct rdma_cm_id *id;
    struct peer_event_queue *queue;
};

/* A new id with its queue. NULL after an answer. */
struct rdma_cm_id *peer_event_create_id(struct peer_event_queue **queue);

/* Destroys an id, its queue and what is in it; returns 0 or the first errno. */
int peer_event_destroy_id(struct rdma_cm_id *id, struct peer_event_queue *queue);

/* The next event of the queue, for peer_event_free(). NULL: none came before the deadline. */
struct peer_event *peer_event_wait(struct peer_event_queue *queue, int64_t deadline);
void peer_event_free(struct peer_event *event);

/* For who waits for something else as well: when the descriptor can be read, take. */
int peer_event_fd(void);
void peer_event_take(void);

/* DISCONNECTED has come, whether somebody asked for it or not. */
bool peer_event_is_disconnected(const struct peer_event_queue *queue);

/* "HEX" of the private data, "-" for none, added to the answer. */
void peer_event_answer_private_data(const struct peer_event *event);

/* Answers "error timeout" (no event) or "error NAME status=N". */
void peer_event_answer_other(const struct peer_event *event);

void peer_event_close(void);

#endif
