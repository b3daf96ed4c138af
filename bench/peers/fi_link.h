/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection of libfabric's tcp provider (FI_EP_MSG), with memory that the peer may use.
 */
#ifndef ITAPI_BENCH_PEERS_FI_LINK_H
#define ITAPI_BENCH_PEERS_FI_LINK_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory of a side: for sent data, received data, and messages about them. */
struct fi_link {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *eq;
    struct fid_cq *cq;
    struct fid_pep *listener;
    struct fid_ep *ep;
    struct fid_mr *mr;
    unsigned char *memory;
    size_t length;
    uint64_t remote_address; /* of the peer's memory; the caller sets it when known */
    uint64_t remote_key;
};

/* All return false after a message on stderr. */
bool fi_link_listen(struct fi_link *link, const char *port);
bool fi_link_accept(struct fi_link *link, size_t length);
bool fi_link_connect(struct fi_link *link, const char *host, const char *port, size_t length);

/* Returns the number of requests that may be open in each direction. */
size_t fi_link_depth(const struct fi_link *link);

/* Returns the address of this side's memory that the peer must use. */
uint64_t fi_link_address(const struct fi_link *link);

void fi_link_close(struct fi_link *link);

/* Prints "fi_stream: what: why". Returns false. */
bool fi_link_complain(const char *what, long status);

#endif
