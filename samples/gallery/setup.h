/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all programs of this folder begin with: an adapter, memory, and a connection by
 * it_listen_create and it_ep_connect. A call that fails ends the program with a message.
 */
#ifndef ITAPI_SAMPLES_GALLERY_SETUP_H
#define ITAPI_SAMPLES_GALLERY_SETUP_H

#include <itx_api.h>

#include <stdbool.h>

/* Reads that one side has under way at once. */
#define READS_MAX 8

/* A completion is reported, and wakes the one who waits. */
#define TOLD (IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)

struct adapter {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t events; /* everything that happens, in one queue */
    int fd;                 /* readable while the queue has an event */
};

/* Memory of a peer. The server's travels in the private data of its accept. */
struct place {
    uint64_t address;
    uint64_t key;
    uint64_t length;
};

__attribute__((noreturn)) void fail(const char *what, const char *why);
void check(it_status_t status, const char *call);

void adapter_open(struct adapter *adapter);

/* Registers memory; what a peer needs to reach it goes to *place, which may be NULL. */
it_lmr_handle_t memory_register(const struct adapter *adapter, void *start, size_t length,
                                it_mem_priv_t privileges, struct place *place);
it_lmr_triplet_t piece_of(it_lmr_handle_t lmr, void *start, size_t length);

/* An endpoint of `adapter`; all its events go to the one queue. */
it_ep_handle_t endpoint_make(const struct adapter *adapter);

/* Listens; requests go to `requests`. It prints the port, since "0" is any free one. */
void listen_at(const struct adapter *adapter, it_evd_handle_t requests, const char *port);

/*
 * Accepts a request with `ep`, and tells the peer of `place` unless it is NULL. False if the peer
 * has gone meanwhile; then `ep` is freed.
 */
bool accept_with(it_ep_handle_t ep, const it_event_t *request, const struct place *place);

/* Connects, and returns when the connection is up; *place is the one that the server has told. */
it_ep_handle_t connect_to(const struct adapter *adapter, const char *host, const char *port,
                          struct place *place);

/* Ends a connection in order. All requests before are done then. */
void disconnect(const struct adapter *adapter, it_ep_handle_t ep);

/* The next event: of this number, or the program ends. */
it_event_t wait_for(const struct adapter *adapter, it_event_type_t number);

/* A completion that must be a success. */
void completed(const it_event_t *event);

/* Whether an event is the end of a connection, whatever its cause. */
bool is_end(const it_event_t *event);

/*
 * Serves clients that use `place` without this program's doing: takes all events that there are,
 * accepts connections and clears up behind them.
 */
void serve_place(const struct adapter *adapter, const struct place *place);

#endif
