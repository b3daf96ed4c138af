/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the first device, and connects queue pairs by hand. */
#ifndef ITAPI_TESTS_OFA_LINKED_VERBS_KIT_H
#define ITAPI_TESTS_OFA_LINKED_VERBS_KIT_H

#include "support/check.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

struct verbs_kit {
    struct ibv_context *context;
    struct ibv_pd *pd;
};

extern struct verbs_kit verbs_kit;

#define VERBS_KIT_FOR_EVER 7

/* How often a Send without a receive is repeated, for queue pairs that are brought up later. */
extern uint8_t verbs_kit_rnr_retry;

/* The time limit of each try, for queue pairs that are brought up later. */
extern uint8_t verbs_kit_timeout;

/* The peer of queue pairs that are brought up later is at 127.0.0.1, not at the first GID. */
extern bool verbs_kit_peer_is_local;

void verbs_kit_open(void);
void verbs_kit_close(void);

/*
 * Brings the queue pair from RESET to RTS. The peer is a queue pair of this process, perhaps the
 * same one.
 */
void verbs_kit_bring_up(struct ibv_qp *qp, uint32_t peer);

/* The same up to RTR. */
void verbs_kit_bring_to_rtr(struct ibv_qp *qp, uint32_t peer);

/* Brings a UD queue pair from RESET to RTS. */
void verbs_kit_bring_up_ud(struct ibv_qp *qp, uint32_t qkey);

/* Waits for the next completion. */
struct ibv_wc verbs_kit_completion(struct ibv_cq *cq);

#endif /* ITAPI_TESTS_OFA_LINKED_VERBS_KIT_H */
