/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider uiwarp: userspace iWARP on ordinary TCP sockets. This header has the private areas
 * of its objects. Comments name the thread that may use a field:
 *
 *   reader    holds an EP's reader token; places what arrives
 *   sender    holds its send token; fills the socket
 *   loop      the IA's thread; listeners, connection startup, timers, closing streams
 *
 * docs/locking.md has the order of tokens and locks.
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_H

#include "base/base_list.h"
#include "evd/loop/evd_loop.h"
#include "tdi/iwarp/iw.h"
#include "tdi/iwarp/iw_mpa.h"
#include "tdi/iwarp/iw_rx.h"
#include "ual/object/ual_ep_state.h"
#include "vp/uiwarp/net/uiw_carrier.h"
#include "vp/uiwarp/net/uiw_half_open.h"
#include "vp/uiwarp/queue/uiw_progress.h"
#include "ual/object/ual_provider.h"
#include "vp/uiwarp/net/uiw_linger.h"
#include "vp/uiwarp/memory/uiw_memory.h"

#define UIW_MAX_SEGMENTS 64u
#define UIW_MAX_DTOS     65536u
#define UIW_MAX_SRQ_DTOS (1u << 20)
#define UIW_MAX_DEPTH    256u /* of IRD and ORD */

struct uiw_conn;
struct uiw_bounce;
struct uiw_linger;
struct uiw_listener;

/* Connection management of an IA: see uiw_conn.h. Only the loop's thread uses it. */
struct uiw_cm {
    struct base_list connections;         /* all attempts under way */
    struct uiw_lingering lingering;       /* streams that are being closed */
    struct uiw_half_open_table half_open; /* accepted streams without a complete Request */
    unsigned half_open_max;               /* limit of .half_open; immutable */
    int scarce_fd;          /* descriptors from this number on are scarce; immutable */
    unsigned undecided;     /* Requests announced to the consumer, which has not decided yet */
    unsigned undecided_max; /* limit of .undecided; immutable */
    uint64_t accepted, initiated, half_open_refused, half_open_timeouts;
};

struct uiw_ia {
    struct uiw_memory memory; /* must be first: uiw_memory_of */
    struct ual_ia *ual;
    char interface[IT_INTERFACE_NAME_SIZE]; /* network interface, "" = all; immutable */
    _Atomic uint64_t streams;               /* counts all connections; numbers them */
    struct uiw_progress progress;
    struct uiw_cm cm;
    struct uiw_carrier carrier;
    struct base_lock retired_lock;
    struct itx_ep_counters retired; /* of destroyed EPs; guarded by retired_lock */
};

struct uiw_listen {
    struct ual_listen *ual;
    struct uiw_listener *listener; /* loop thread; see uiw_listen.c */
};

static inline struct uiw_ia *uiw_ia_of(struct ual_ia *ia)
{
    return (struct uiw_ia *)(void *)ia->area;
}

static inline struct uiw_listen *uiw_listen_of(struct ual_listen *listen)
{
    return (struct uiw_listen *)(void *)listen->area;
}

_Static_assert(offsetof(struct uiw_ia, memory) == 0, "uiw_memory_of relies on it");

static inline struct uiw_progress *uiw_progress_of(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

#endif
