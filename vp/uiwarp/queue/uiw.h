/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider uiwarp: userspace iWARP on ordinary TCP sockets. The private areas of its objects
 * and who may touch what:
 *
 *   reader    the thread that has won an EP's reader token: places what arrives
 *   sender    the thread that has won its send token: fills the socket
 *   loop      the IA's thread: listeners, connection startup, timers, closing streams
 *
 * docs/locking.md has the order of tokens and locks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_H

#include "evd/loop/evd_loop.h"
#include "tdi/iwarp/iw.h"
#include "tdi/iwarp/iw_mpa.h"
#include "tdi/iwarp/iw_rx.h"
#include "ual/object/ual_ep_state.h"
#include "vp/uiwarp/net/uiw_carrier.h"
#include "vp/uiwarp/net/uiw_half_open.h"
#include "vp/uiwarp/memory/uiw_mr.h"
#include "vp/uiwarp/queue/uiw_progress.h"
#include "ual/object/ual_provider.h"

#define UIW_MAX_SEGMENTS 64u
#define UIW_MAX_DTOS     65536u
#define UIW_MAX_SRQ_DTOS (1u << 20)
#define UIW_MAX_DEPTH    256u          /* IRD, ORD */
#define UIW_BOUNCE_SIZE  (70u * 1024u) /* one FPDU of any size, with markers */

struct uiw_conn;
struct uiw_bounce;
struct uiw_linger;
struct uiw_listener;

/* Connection management of an IA: see uiw_conn.h. Loop thread only unless said otherwise. */
struct uiw_cm {
    struct uiw_conn *connections; /* all attempts under way, both roles */
    /* Streams that are being closed. */
    struct uiw_linger *linger_oldest, *linger_newest;
    unsigned lingering;
    unsigned linger_max;                  /* immutable, at least 1 */
    struct uiw_half_open_table half_open; /* accepted, Request not complete */
    unsigned half_open_max;               /* of them; immutable */
    int scarce_fd;          /* from this number on descriptors are scarce; immutable */
    unsigned undecided;     /* announced, no decision by the consumer yet */
    unsigned undecided_max; /* of them; immutable */
    uint64_t accepted, initiated, half_open_refused, half_open_timeouts;
};

#define UIW_BOUNCE_KEEP 16u

struct uiw_ia {
    struct ual_ia *ual;
    struct vp_attributes attributes;        /* immutable */
    char interface[IT_INTERFACE_NAME_SIZE]; /* network interface, "" = all; immutable */
    struct uiw_mr_table mrs;
    _Atomic uint64_t streams; /* connections ever: gives each a number */
    struct uiw_progress progress;
    struct uiw_cm cm;
    struct uiw_carrier carrier;
    _Atomic(struct uiw_bounce *) bounces[UIW_BOUNCE_KEEP]; /* spare buffers; NULL: none here */
    struct base_lock retired_lock;
    struct itx_ep_counters retired; /* of EPs that are gone; by retired_lock */
};

struct uiw_pz {
    _Atomic uint32_t eps; /* EPs of this PZ: an STag used by one stream only may be invalidated */
};

struct uiw_listen {
    struct ual_listen *ual;
    struct uiw_listener *listener; /* loop thread; see uiw_listen.c */
};

static inline struct uiw_ia *uiw_ia_of(struct ual_ia *ia)
{
    return (struct uiw_ia *)(void *)ia->area;
}

static inline struct uiw_pz *uiw_pz_of(struct ual_pz *pz)
{
    return (struct uiw_pz *)(void *)pz->area;
}

static inline struct uiw_listen *uiw_listen_of(struct ual_listen *listen)
{
    return (struct uiw_listen *)(void *)listen->area;
}

#endif
