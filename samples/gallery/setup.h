/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by all programs of this folder: opens an adapter, registers memory, and makes connections
 * by it_listen_create and it_ep_connect. A call that fails ends the program with a message.
 */
#ifndef ITAPI_SAMPLES_GALLERY_SETUP_H
#define ITAPI_SAMPLES_GALLERY_SETUP_H

#include <itx_api.h>

#include <stdbool.h>

/* Reads that one side may have outstanding. */
#define READS_MAX 8

/* A success is reported, and wakes a waiting thread. */
#define TOLD (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)

struct adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t events; /* one queue for all events */
    int fd;                 /* readable while the queue has an event */
};

/* Memory of a peer. A server sends its own in the private data of its accept. */
struct place {
    uint64_t address;
    uint64_t key;
    uint64_t length;
};

__attribute__((noreturn)) void fail(const char *what, const char *why);
void check(it_status_t status, const char *call);

void adapter_open(struct adapter *adapter);

/* Registers memory. *place, which may be NULL, gets the address, key and length for a peer. */
it_lmr_handle_t memory_register(const struct adapter *adapter, void *start, size_t length,
                                it_mem_priv_t privileges, struct place *place);
it_lmr_triplet_t piece_of(it_lmr_handle_t lmr, void *start, size_t length);

/* Makes an endpoint of `adapter`; all its events go to the one queue. */
it_ep_handle_t endpoint_make(const struct adapter *adapter);

/* Listens; requests go to `requests`. Prints the port, because "0" chooses a free one. */
void listen_at(const struct adapter *adapter, it_evd_handle_t requests, const char *port);

/*
 * Accepts a request with `ep`, and sends `place` to the peer unless it is NULL. Returns false if
 * the peer has disconnected already; `ep` is then freed.
 */
bool accept_with(it_ep_handle_t ep, const it_event_t *request, const struct place *place);

/*
 * Connects, and returns once the connection is established; *place gets the place that the server
 * has sent.
 */
it_ep_handle_t connect_to(const struct adapter *adapter, const char *host, const char *port,
                          struct place *place);

/* Ends a connection gracefully: all earlier requests complete first. */
void disconnect(const struct adapter *adapter, it_ep_handle_t ep);

/* Returns the next event. If it has another number, the program ends with a message. */
it_event_t wait_for(const struct adapter *adapter, it_event_type_t number);

/* Ends the program with a message unless the completion is a success. */
void completed(const it_event_t *event);

/* Returns true if the event is the end of a connection, with any cause. */
bool is_end(const it_event_t *event);

/*
 * Serves clients that access `place` by one-sided operations: takes all queued events, accepts
 * connections, and frees the endpoints of ended ones.
 */
void serve_place(const struct adapter *adapter, const struct place *place);

#endif
