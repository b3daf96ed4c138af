/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider for devices of rdma-core: a shared library of its own, which reaches the library by
 * the table verbs_host alone. The private area of an IA; those of other objects stand with their
 * owners.
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

/* Deviations of some devices. */
struct verbs_quirks {
    bool is_siw; /* what follows, found out by name and vendor */
    bool is_rxe;
    bool zero_segments;   /* a receive without a segment is refused */
    bool late_posts_lost; /* what is posted when the QP has failed never completes */
    bool reads_overtaken; /* a request completes before the Read in front of it */
    unsigned invalidated; /* flag of a completion: rxe hands on that of the kernel */
};

/* Writes of no octets that a connection of siw may begin with: verbs_cm_nudge.c. */
#define VERBS_NUDGES 3

struct verbs_ia {
    struct ual_ia *ual;
    struct ibv_context *context; /* our own, not that of librdmacm */
    struct ibv_device_attr_ex device;
    struct vp_attributes attributes;
    struct verbs_quirks quirks;
    bool is_iwarp;
    uint8_t ports;
    struct ibv_cq *filler; /* NULL: not needed */
    struct vp_watch *async_watch;
    pthread_mutex_t attach_lock; /* gives an EVD its source; a leaf but for evd.lock */
    _Atomic bool removed;        /* the device is gone */
    pthread_mutex_t rmr_lock;    /* a leaf */
    struct base_list rmrs;       /* by .rmr_lock */
    struct verbs_cm *cm;         /* by verbs_cm_ep.c */
};

/* A destination. */
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

/* More segments are never announced. */
#define VERBS_MAX_SEGMENTS 32

/* ---------------------------------------------------------------- short forms (verbs_host.c) */

#define verbs_log(level, ...) verbs_host->log((level), __VA_ARGS__)

/* Runs the function on the IA's thread and returns its status. */
it_status_t verbs_run(struct ual_ia *ia, it_status_t (*function)(void *argument), void *argument);
/* Logs "IA: failure: strerror(error)"; the second: only if error and the device is still there. */
void verbs_warn(const struct verbs_ia *ia, const char *failure, int error);
void verbs_warn_unless_removed(struct verbs_ia *ia, const char *failure, int error);

#endif
