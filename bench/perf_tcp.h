/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference: the same patterns over a plain TCP connection, written as well as plain TCP
 * allows. A message is one send call. A receive call takes any number of octets. With sums both
 * sides compute checksums of all data, and there is one call for each 256 KiB, so that the octets
 * are still in the cache when the kernel copies them.
 *
 *     lat    send, write: ping-pong. read: a small request, answered with the message
 *     bw,    send, write: a stream of messages, one byte back at the end. read: up to depth open
 *     rate   small requests, each answered with the message
 */
#ifndef ITAPI_BENCH_PERF_TCP_H
#define ITAPI_BENCH_PERF_TCP_H

#include "perf.h"
#include "perf_sampler.h"

struct perf_tcp {
    int sd;
    const struct perf_params *params;
    unsigned char *buffer; /* memory for sent and received data */
    size_t room;
    uint32_t sum;
    struct perf_sampler sampler; /* lat: of the current run */
};

/* Takes over the socket, even if it fails. */
bool reference_open(struct perf_tcp *tcp, int sd, const struct perf_params *params);
void reference_close(struct perf_tcp *tcp);

/* Do one run, on either side. */
bool reference_client(struct perf_tcp *tcp, uint64_t iters);
bool reference_server(struct perf_tcp *tcp, uint64_t iters);

#endif
