/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One RDMA connection with all its objects, for the samples: an Interface Adapter, three event
 * dispatchers, an endpoint, and buffers for messages of a fixed size.
 *
 * The samples connect in different ways; after that both sides use the same calls. Every function
 * that returns a bool returns false after a message on stderr.
 */
#ifndef ITAPI_SAMPLES_COMMON_RDMA_H
#define ITAPI_SAMPLES_COMMON_RDMA_H

#include "common/message.h"
#include "common/report.h"

/* The provider in userspace, on all addresses of this machine: available on every machine. */
#define RDMA_DEFAULT_IA "uiwarp"

/* The limit of bytes per RDMA operation, and of operations outstanding at once. */
#define RDMA_CHUNK ((size_t)1 << 20)
#define RDMA_DEPTH 16

/* Memory that is registered for RDMA. */
struct region {
    unsigned char *memory;
    size_t length;
    it_lmr_handle_t lmr;
    it_rmr_context_t key; /* with an address, what a peer needs to use the memory */
};

/* A peer's region. */
struct remote {
    it_rmr_context_t key;
    it_rdma_addr_t address;
    uint64_t length;
};

struct rdma {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t requests;      /* completions of sends, RDMA Writes and RDMA Reads */
    it_evd_handle_t receives;      /* arrived messages */
    it_evd_handle_t connection;    /* events of the connection */
    it_ep_handle_t ep;             /* the endpoint: this side's end of the connection */
    size_t spigot;                 /* the port of the adapter */
    it_mem_priv_t sink_privileges; /* rights that the target of an own RDMA Read needs */
    struct region messages;        /* memory for messages; see rdma.c */
};

/* Opens the adapter and creates all objects; posts receives, so that no message is missed. */
bool rdma_open(struct rdma *rdma, const char *ia_name);

/* Destroys everything. The caller frees its regions before. */
void rdma_close(struct rdma *rdma);

/* Waits until the connection is established, or has failed. */
bool rdma_wait_connected(struct rdma *rdma);

/* Ends the connection from this side, or waits until the peer has ended it. */
bool rdma_disconnect(struct rdma *rdma);
bool rdma_wait_disconnected(struct rdma *rdma);

/*
 * Sends a message; it may still be in transmission on return. No RDMA Write or Read of this side
 * may be outstanding.
 */
bool rdma_send(struct rdma *rdma, const struct message *message);

/* Waits for the next message, which must be of this kind. */
bool rdma_receive(struct rdma *rdma, enum message_kind kind, struct message *message);

/* Tells the peer how to use a region of this side. */
bool rdma_advertise(struct rdma *rdma, const struct region *region, size_t length);

/* Waits until the oldest outstanding RDMA Write or Read has finished. */
bool rdma_wait_request(struct rdma *rdma);

/* Waits for any event, without a time limit; signals do not end the wait. */
bool rdma_wait_event(it_evd_handle_t evd, it_event_t *event);

/*
 * Returns zeroed memory for RDMA, at least one byte: there are no empty regions. Its pages exist,
 * so that a transfer need not wait for page faults. Returns NULL if memory runs out; the caller
 * frees it with free.
 */
unsigned char *memory_allocate(size_t length);

/* Registers memory for RDMA until region_free; the memory stays the caller's. */
bool region_create(struct region *region, it_pz_handle_t pz, unsigned char *memory, size_t length,
                   it_mem_priv_t privileges);
void region_free(struct region *region);

/* Describes a part of a region for the posting calls. */
it_lmr_triplet_t region_segment(const struct region *region, size_t offset, size_t length);

#endif
