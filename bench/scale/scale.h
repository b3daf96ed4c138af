/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_scale: many connected endpoints in two processes. Declarations for both sides. Functions that
 * return bool print a message before they return false.
 */
#ifndef ITAPI_BENCH_SCALE_H
#define ITAPI_BENCH_SCALE_H

#include "common/report.h"

#include <itx_api.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sizes of an idle endpoint. */
#define SCALE_REQUESTS 16u
#define SCALE_RECEIVES 16u
#define SCALE_SEGMENTS 4u
#define SCALE_DEPTH    8u /* IRD, ORD */

/* 127.0.0.1 and the next addresses are used in turn, since each has its own local ports. */
#define SCALE_ADDRESSES 8u

/* ---- The process (scale_process.c) ---------------------------------------------------------- */

double scale_clock(void); /* seconds */

/* Raises the soft limit of descriptors to this number, or to the hard limit. */
bool scale_raise_limit(size_t descriptors);

size_t scale_descriptors(void); /* number of open descriptors */

/* Returns the bytes that the heap has allocated, or 0 if this C library does not tell. */
size_t scale_heap(void);

/*
 * Send numbers to and receive them from the other process. In scale_meet both wait for each other.
 */
bool scale_tell(int channel, uint64_t number);
bool scale_hear(int channel, uint64_t *number);
bool scale_meet(int channel);

/* Returns the address to which connection number i goes. */
struct in_addr scale_address(size_t i);

/* ---- Plain TCP (scale_tcp.c) ---------------------------------------------------------------- */

/* Connect or accept this many sockets and close them. *seconds: until the last one. */
bool scale_tcp_client(int channel, size_t count, double *seconds);
bool scale_tcp_server(int channel, size_t count, double *seconds);

/* ---- One side (scale_side.c) ---------------------------------------------------------------- */

struct scale_side {
    bool server;
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t requests;
    it_evd_handle_t receives;
    it_evd_handle_t connection;
    it_evd_handle_t arrivals; /* server */
    it_listen_handle_t listener;
    uint16_t port; /* port of the server, network byte order */
    size_t spigot;
    it_lmr_handle_t lmr;
    unsigned char memory[128]; /* for sent and received data */
    unsigned char first_octet; /* first octet of the last message that scale_ping has received */
    size_t count;              /* endpoints */
    it_ep_handle_t *eps;
};

/* Opens an IA with room for this many connections. The server listens. */
bool scale_side_open(struct scale_side *side, bool server, size_t count);
/* *seconds: the time of it_ia_free. */
bool scale_side_close(struct scale_side *side, double *seconds);

/* Endpoints first..first+count-1. */
bool scale_create(struct scale_side *side, size_t first, size_t count);
/* Connect them, at most `window` at a time; accept them. */
bool scale_connect(struct scale_side *side, size_t first, size_t count, size_t window);
bool scale_accept(struct scale_side *side, size_t first, size_t count);

/* Posts the receives of endpoint 0, which is connected and will be busy. */
bool scale_prepare(struct scale_side *side);
/*
 * Runs a ping-pong of 64 bytes over endpoint 0 for this many round trips, polling or waiting. Both
 * sides call it at the same time.
 */
bool scale_ping(struct scale_side *side, bool wait, size_t rounds);

#endif
