/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider for devices of rdma-core: a shared library of its own, which calls the library only
 * through the table verbs_host. This header has the private area of an IA; those of other objects
 * are with their owners.
 */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_H

#include "base/base_list.h"
#include "ual/vp_host.h"

#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const struct vp_host *verbs_host;

struct verbs_cm; /* connections of an IA: verbs_cm_private.h */

/* Behaviour in which some devices deviate. */
struct verbs_quirks {
    bool is_siw; /* by vendor and name; decides most of the members below */
    bool is_rxe;
    bool zero_segments;   /* refuses a receive without a segment */
    bool late_posts_lost; /* a request posted after the QP has failed never completes */
    bool reads_overtaken; /* a request may complete before the Read in front of it */
    unsigned invalidated; /* bit of wc_flags for an invalidated key; rxe uses the kernel's bit */
};

/* Empty RDMA Writes that a connection of siw may begin with: verbs_cm_nudge.c. */
#define VERBS_NUDGES 3

struct verbs_ia {
    struct ual_ia *ual;
    struct ibv_context *context; /* opened here, not that of librdmacm */
    struct ibv_device_attr_ex device;
    struct vp_attributes attributes;
    struct verbs_quirks quirks;
    bool is_iwarp;
    uint8_t ports;
    struct ibv_cq *filler; /* see verbs_device.c; NULL: not needed */
    struct vp_watch *async_watch;
    pthread_mutex_t attach_lock; /* held while an EVD gets its source; inside it only evd.lock */
    _Atomic bool removed;        /* the device is gone */
    pthread_mutex_t rmr_lock;    /* a leaf */
    struct base_list rmrs;       /* guarded by .rmr_lock */
    struct verbs_cm *cm;         /* owned by verbs_cm_ep.c */
};

/* A destination of datagrams. */
struct verbs_address {
    struct ibv_ah *ah;
};

/* ---------------------------------------------------------------- areas */

static inline struct verbs_ia *verbs_ia_of(const struct ual_ia *ia)
{
    return vp_area(verbs_host, VP_IA, ia);
}

static inline struct verbs_address *verbs_address_of(struct ual_address *address)
{
    return vp_area(verbs_host, VP_ADDRESS, address);
}

/* The highest number of segments that the provider announces. */
#define VERBS_MAX_SEGMENTS 32

/* ---------------------------------------------------------------- short forms (verbs_host.c) */

#define verbs_log(level, ...) verbs_host->log((level), __VA_ARGS__)

/* Runs the function on the IA's thread and returns its status. */
it_status_t verbs_run(struct ual_ia *ia, it_status_t (*function)(void *argument), void *argument);
/* Logs "IA: failure: strerror(error)"; the second only if error is not 0 and the device there. */
void verbs_warn(const struct verbs_ia *ia, const char *failure, int error);
void verbs_warn_unless_removed(struct verbs_ia *ia, const char *failure, int error);

#endif
