/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of rdma_cm. All ids share one event channel. Every event is taken from it, acknowledged
 * and put into the queue of its id, where it stays until a command asks for it.
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
    /* For a connection request: the new id and its queue, unless a command has taken them. */
    struct rdma_cm_id *id;
    struct peer_event_queue *queue;
};

/* Makes an id with its queue. Returns NULL after an answer. */
struct rdma_cm_id *peer_event_create_id(struct peer_event_queue **queue);

/* Destroys an id, its queue and the queued events. Returns 0 or the first error's errno. */
int peer_event_destroy_id(struct rdma_cm_id *id, struct peer_event_queue *queue);

/*
 * Takes the next event of the queue, for peer_event_free(). Returns NULL if none came before the
 * deadline.
 */
struct peer_event *peer_event_wait(struct peer_event_queue *queue, int64_t deadline);
void peer_event_free(struct peer_event *event);

/*
 * For a caller that also waits for something else: when the descriptor is readable, it calls
 * peer_event_take.
 */
int peer_event_fd(void);
void peer_event_take(void);

/* Returns true if DISCONNECTED has come, whether a command asked for it or not. */
bool peer_event_is_disconnected(const struct peer_event_queue *queue);

/* Appends the private data in hexadecimal to the answer, or "-" if there is none. */
void peer_event_answer_private_data(const struct peer_event *event);

/* Answers "error timeout" (no event) or "error NAME status=N". */
void peer_event_answer_other(const struct peer_event *event);

void peer_event_close(void);

#endif
