/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of verbs and rdma_cm constants in answers. */
#ifndef PEERS_NAMES_H
#define PEERS_NAMES_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

const char *peer_name_transport(enum ibv_transport_type transport);
const char *peer_name_event(enum rdma_cm_event_type event);
bool peer_name_is_event(const char *name, enum rdma_cm_event_type *event);
const char *peer_name_async(enum ibv_event_type event);
const char *peer_name_state(enum ibv_qp_state state);
const char *peer_name_status(enum ibv_wc_status status);

/* Returns the name of a successful completion's opcode. */
const char *peer_name_opcode(const struct ibv_wc *completion);

#endif
