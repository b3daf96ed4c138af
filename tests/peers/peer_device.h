/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices that rdma_cm has opened, each with one protection domain for all its objects. */
#ifndef PEERS_DEVICE_H
#define PEERS_DEVICE_H

#include "peer_args.h"

#include <infiniband/verbs.h>

struct peer_device {
    struct ibv_context *context;
    struct ibv_pd *pd; /* made when it is first used */
    struct ibv_cq *placeholder;
    struct ibv_cq *filler;
    struct peer_device *next;
};

struct peer_device *peer_device_of(struct ibv_context *context);
const char *peer_device_name(const struct peer_device *device);

/* Makes this device, to which an id was bound, the one that commands without a device use. */
void peer_device_make_current(struct peer_device *device);

/*
 * Returns the device that option dev names; without it the current one, or else the first one.
 * Returns NULL after a refusal.
 */
struct peer_device *peer_device_pick(struct peer_args *args);

/* Returns the protection domain, or NULL after an answer. */
struct ibv_pd *peer_device_pd(struct peer_device *device);

void peer_device_command(struct peer_args *args);
void peer_device_async_command(struct peer_args *args);

void peer_device_close_all(void);

#endif
