/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices as rdma_cm opened them, each with one protection domain for everything on it. */
#ifndef PEERS_DEVICE_H
#define PEERS_DEVICE_H

#include "peer_args.h"

#include <infiniband/verbs.h>

struct peer_device {
    struct ibv_context *context;
    struct ibv_pd *pd; /* made at the first use */
    struct ibv_cq *placeholder;
    struct ibv_cq *filler;
    struct peer_device *next;
};

struct peer_device *peer_device_of(struct ibv_context *context);
const char *peer_device_name(const struct peer_device *device);

/* An id was bound to this device: it is what commands mean that name none. */
void peer_device_make_current(struct peer_device *device);

/*
 * The device that option dev names, else the current one, else the first there is. NULL after a
 * refusal.
 */
struct peer_device *peer_device_pick(struct peer_args *args);

/* The protection domain. NULL after an answer. */
struct ibv_pd *peer_device_pd(struct peer_device *device);

void peer_device_command(struct peer_args *args);
void peer_device_async_command(struct peer_args *args);

void peer_device_close_all(void);

#endif
