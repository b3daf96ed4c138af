/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects of one connection: step 2 creates them, and the later steps use them. */
#ifndef ITAPI_SAMPLES_TUTORIAL_OBJECTS_H
#define ITAPI_SAMPLES_TUTORIAL_OBJECTS_H

#include <itx_api.h>

#include <stdbool.h>

/* Offsets in the registered memory. */
#define OUT_AT      0   /* offset of messages to send */
#define IN_AT       256 /* offset of received messages */
#define MEMORY_SIZE 512

struct rdma {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_lmr_handle_t lmr;
    it_rmr_context_t key;       /* the key that a peer needs to access the memory */
    it_evd_handle_t requests;   /* completions of this side's requests */
    it_evd_handle_t receives;   /* arrived messages */
    it_evd_handle_t connection; /* events of the connection */
    it_ep_handle_t ep;
    char *memory;
};

/* Ends the program if a call has failed. */
void check(it_status_t status, const char *call);

/* Creates all objects and posts the first receive, so that no message can come too early. */
void rdma_open(struct rdma *rdma);
void rdma_close(struct rdma *rdma);

/* Returns a segment of the memory for requests and receives. */
it_lmr_triplet_t rdma_piece(const struct rdma *rdma, size_t at, size_t length);

/* Posts a receive for one message, at IN_AT. */
void rdma_post_receive(struct rdma *rdma);

/* Waits for a completion. Returns false if it is no success: the connection has ended. */
bool rdma_completed(it_evd_handle_t evd, uint32_t *length);

/* Waits for the wanted event of the connection; another event ends the program. */
void rdma_wait_connection(struct rdma *rdma, it_event_type_t wanted);

#endif
