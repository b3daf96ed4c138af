/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures messages over an RDMA connection of the API.
 *
 *     lat    send: ping-pong of Send and Recv. write: both sides write into the other's memory and
 *            poll their own. read: one RDMA Read at a time
 *     bw,    up to depth open requests; at the end a Send and its answer show that all data
 *     rate   have arrived
 *
 * One request of each batch has a completion. It means that all earlier requests are finished too;
 * its cookie is their number.
 */
#ifndef ITAPI_BENCH_PERF_RDMA_H
#define ITAPI_BENCH_PERF_RDMA_H

#include "perf_adapter.h"
#include "perf_control.h"
#include "perf_sampler.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* Registered memory of at least PERF_BUFFER_MIN bytes. */
struct perf_buffer {
    unsigned char *bytes;
    size_t size;
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
};

#define PERF_BUFFER_MIN ((size_t)64)

struct perf_rdma {
    const struct perf_params *params;

    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t requests;   /* completions of posted requests */
    it_evd_handle_t receives;   /* received messages */
    it_evd_handle_t connection; /* events of the connection */
    it_evd_handle_t arrivals;   /* server: connection requests */
    it_listen_handle_t listener;
    it_ep_handle_t ep;
    struct perf_adapter adapter;
    bool sets_crc; /* the Interface does MPA itself */
    bool polls;    /* this side polls */

    struct perf_buffer source; /* source of Sends and RDMA Writes, and of the peer's RDMA Reads */
    struct perf_buffer inbox;  /* receives go here */
    struct perf_buffer target; /* target of the peer's RDMA Writes and of own RDMA Reads */
    it_path_t path;            /* client: to the server */
    it_rmr_context_t remote_key;
    it_rdma_addr_t remote_address;

    /* Counts of the request queue since the beginning. */
    uint64_t posted;
    uint64_t finished;
    uint64_t report_every; /* number of requests in a batch */

    /* Flow control of a stream of Sends: the peer reports how many more receives it has posted. */
    uint64_t receives_posted;
    uint64_t taken;        /* ping-pong: receives to be posted again */
    uint64_t credit;       /* sender: Sends that may be posted */
    uint64_t credit_batch; /* Sends for which one message of the receiver gives credit */
    uint64_t uncredited;   /* receiver: Sends received without new credit yet */

    double completed; /* stream: when its last request had completed, by perf_clock */

    struct perf_sampler sampler; /* lat: of the current run */

    unsigned char stamp; /* write lat: last byte of the next expected message */
};

/*
 * Opens the adapter and makes everything except a connection. The server then listens, and contact
 * gets its address.
 */
bool perf_rdma_open(struct perf_rdma *rdma, const char *ia, const struct perf_params *params,
                    bool server, struct contact *contact);
void perf_rdma_close(struct perf_rdma *rdma);

/* Client: finds the path to the server's address, whose port is ignored. */
bool perf_rdma_find_server(struct perf_rdma *rdma, const struct sockaddr_storage *address);

/* Make the connection, on either side. The server gives up if the control connection is lost. */
bool perf_rdma_connect(struct perf_rdma *rdma, const struct contact *server);
bool perf_rdma_accept(struct perf_rdma *rdma, const struct contact *client, int control);

/*
 * Before and after a run with params->verify: overwrite, and check, the memory that receives data.
 */
void perf_rdma_spoil(struct perf_rdma *rdma, bool server);
bool perf_rdma_intact(struct perf_rdma *rdma, bool server);

/* Do one run, on either side. */
bool perf_rdma_client(struct perf_rdma *rdma, uint64_t iters);
bool perf_rdma_server(struct perf_rdma *rdma, uint64_t iters);

/* Posts a receive into the inbox. */
bool perf_rdma_post_receive(struct perf_rdma *rdma);

#endif
