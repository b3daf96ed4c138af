/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of rdma_cm on both sides of connections within one process. */
#ifndef ITAPI_TESTS_OFA_LINKED_CM_KIT_H
#define ITAPI_TESTS_OFA_LINKED_CM_KIT_H

#include "support/check.h"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

struct cm_kit {
    struct rdma_event_channel *server;
    struct rdma_event_channel *client;
};

extern struct cm_kit cm_kit;

void cm_kit_open(void);
void cm_kit_close(void);

/* Returns the address 127.0.0.last; 0: any address. The port is in network byte order. */
struct sockaddr_in cm_kit_local(uint32_t last, uint16_t port);

/*
 * Both wait for the next event, which must be of this type. The second also acknowledges it and
 * returns its id.
 */
struct rdma_cm_event *cm_kit_expect(struct rdma_event_channel *channel,
                                    enum rdma_cm_event_type type);
struct rdma_cm_id *cm_kit_pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* Listens on 127.0.0.last, 0: on all addresses; port 0: any. */
struct rdma_cm_id *cm_kit_listen_at(uint32_t last, uint16_t port);

/*
 * Makes an id with a route to that port; adds a queue pair; makes an id that connects with this
 * word as private data.
 */
struct rdma_cm_id *cm_kit_resolve(uint32_t last, uint16_t port);
void cm_kit_equip(struct rdma_cm_id *id);
struct rdma_cm_id *cm_kit_call(uint32_t last, uint16_t port, const char *word);

/* Takes the next request, which must carry this word. Returns its id. */
struct rdma_cm_id *cm_kit_requested(const char *word);

/* Destroys the id and its queue pair. */
void cm_kit_destroy(struct rdma_cm_id *id);

#endif /* ITAPI_TESTS_OFA_LINKED_CM_KIT_H */
