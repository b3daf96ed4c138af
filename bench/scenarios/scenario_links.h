/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A few connections between one adapter of the client and one of the server, on loopback. Each has
 * its own memory: messages come from the first half and go to the second.
 */
#ifndef ITAPI_BENCH_SCENARIO_LINKS_H
#define ITAPI_BENCH_SCENARIO_LINKS_H

#include "scenario.h"

#include <itx_api.h>

#define LINKS_MAX     16u
#define LINKS_THREADS 2u
#define LINKS_DEPTH   32u /* requests of an endpoint */
#define LINKS_READS   8u  /* open RDMA Reads of an endpoint */

struct link {
    it_ep_handle_t ep;
    unsigned char *bytes; /* 2 * links.size */
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
    it_rmr_context_t remote_key;
    it_rdma_addr_t remote_address;
};

struct links {
    size_t count;
    size_t size; /* size of the largest message */
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t requests[LINKS_THREADS]; /* connection i uses number i % LINKS_THREADS */
    it_evd_handle_t receives;
    it_evd_handle_t connection;
    it_evd_handle_t arrivals; /* server */
    it_listen_handle_t listener;
    size_t spigot;
    struct link links[LINKS_MAX];
};

/* Both sides call it at the same time. links_close may follow an open that failed. */
bool links_open(struct links *links, const struct scenario *scenario, size_t count, size_t size);
bool links_close(struct links *links);

it_lmr_triplet_t links_source(const struct links *links, size_t i, size_t length);
it_lmr_triplet_t links_target(const struct links *links, size_t i, size_t length);

/* Takes the next completion, polling or waiting. Returns false unless it is a success. */
bool links_take(it_evd_handle_t evd, bool wait, it_event_t *event);

#endif
